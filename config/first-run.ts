import type { App } from "./app.js";

const DEMO_CREDITS = 1_000;

/** The account of a first run. */
export interface DemoAccount {
  readonly accountId: string;
  /** Shown this once. */
  readonly key: string;
  /** What to print: the key, a first request, and where the docs are. */
  readonly welcome: string;
}

/**
 * Makes the account `demo` on an empty installation.
 *
 * @param url where the server listens
 */
export async function makeDemoAccount(app: App, url: string): Promise<DemoAccount> {
  const tier = "pro" in app.settings.tiers ? "pro" : (Object.keys(app.settings.tiers)[0] ?? "free");
  const account = await app.accounts.create({ name: "demo", tier, acceptTerms: true, credits: DEMO_CREDITS });
  const { token } = await app.accounts.issueKey(account.id, { name: "demo" });
  const model = (await app.models.list()).find(({ status }) => status === "available")?.model.id ?? "synth/instrumental";
  const body = JSON.stringify({ model_id: model, prompt: "calm piano over soft rain, slow and warm" });
  const welcome = `
An account \`demo\` was made (${account.id}: tier ${tier}, ${DEMO_CREDITS} credits, terms accepted).
Its API key is shown this once:

  ${token}

Make music:

  curl -s ${url}/api/v1/generations -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -H "Idempotency-Key: first-$(date +%s)" -H 'Prefer: wait=60' -d '${body}'

The answer's status_url shows the finished piece with its play_url.
Docs: ${url}/docs
`;
  return { accountId: account.id, key: token, welcome };
}
