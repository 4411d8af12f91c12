import { type FileHandle, open, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { App } from "./app.js";

const DEMO_CREDITS = 1_000;

/**
 * Prints the response as it is, so that it can be piped on, and after it, on stderr, the link that plays the track.
 * Node is wherever this runs. A shell reads it between single quotes, so it contains none.
 */
const SHOW_LINK =
  'let text="";process.stdin.on("data",(part)=>text+=part).on("end",()=>{console.log(text);' +
  'console.error("\\n"+(/"play_url":"([^"]+)/.exec(text)?.[1]??""))})';

/** Holds the key of the account `demo`, in the data directory, where the first start had no terminal to show it on. */
export const DEMO_KEY_FILE = "demo.key";

/** The account of a first run. */
export interface DemoAccount {
  readonly accountId: string;
  /** Shown this once. */
  readonly key: string;
  /** Where the key is, mode 0600; null when it is in {@link welcome}. */
  readonly keyFile: string | null;
  /** What to print: the key or where it is, a first request, and where the docs are. */
  readonly welcome: string;
}

/**
 * Makes the account `demo` on an empty installation. Its key goes to a terminal only: anything else that reads the
 * output of a server, such as a journal, is read by others and kept.
 *
 * @param url where the server listens
 * @throws {Error} the key's file cannot be written; no account was created
 */
export async function makeDemoAccount(app: App, url: string, isTerminal: boolean): Promise<DemoAccount> {
  const keyFile = isTerminal ? null : join(resolve(app.settings.dataDir), DEMO_KEY_FILE);
  const file = keyFile === null ? null : await createKeyFile(keyFile);
  try {
    const tier = "pro" in app.settings.tiers ? "pro" : (Object.keys(app.settings.tiers)[0] ?? "free");
    const account = await app.accounts.create({ name: "demo", tier, acceptTerms: true, credits: DEMO_CREDITS });
    const { token } = await app.accounts.issueKey(account.id, { name: "demo" });
    await file?.writeFile(`${token}\n`);
    await file?.sync();
    const created =
      `The account \`demo\` was created (${account.id}: tier ${tier}, ${DEMO_CREDITS} ` + `credits, terms accepted).`;
    const welcome = `\n${created}\n${await describeUse(app, url, token, keyFile)}`;
    return { accountId: account.id, key: token, keyFile, welcome };
  } finally {
    await file?.close();
  }
}

/** Opened before the account is created: a key that cannot be written down is of no use. */
async function createKeyFile(path: string): Promise<FileHandle> {
  // One of an earlier database may be there, with other rights.
  await rm(path, { force: true });
  return open(path, "wx", 0o600);
}

async function describeUse(app: App, url: string, token: string, keyFile: string | null): Promise<string> {
  const models = await app.models.list();
  const model = models.find(({ status }) => status === "available")?.model.id ?? "synth/instrumental";
  const body = JSON.stringify({ model_id: model, prompt: "calm piano over soft rain, slow and warm" });
  const shown = keyFile === null ? `Its API key is shown this once:\n\n  ${token}\n` : `Its API key is in ${keyFile}\n`;
  const bearer = keyFile === null ? `'Authorization: Bearer ${token}'` : `"Authorization: Bearer $(cat '${keyFile}')"`;
  const headers = [
    bearer,
    "'Content-Type: application/json'",
    '"Idempotency-Key: first-$(date +%s)"',
    "'Prefer: wait=55'",
  ];
  const options = headers.map((header) => `-H ${header}`).join(" ");
  return `${shown}
Make music:

  curl -sS ${url}/api/v1/generations ${options} -d '${body}' | node -e '${SHOW_LINK}'

It waits for the track, for a minute at most, and ends with the link that plays it.
Docs: ${url}/docs
`;
}
