import { Writable } from "node:stream";
import type { CallerHost } from "../../adapters/cli/caller/caller-host.js";
import type { CliHost } from "../../adapters/cli/host.js";
import { runCli } from "../../adapters/cli/program.js";

const UNDERSTOOD = "understood";
const UNDERSTOOD_AS_JSON = JSON.stringify({ error: { code: "failed", message: UNDERSTOOD } });

/** A caller's environment without a terminal, of which a test gives what it needs. Every call of a server fails. */
export function callerDouble(given: Partial<CallerHost> = {}): CallerHost {
  const nothing = (): Promise<never> => Promise.reject(new Error("no server behind it"));
  return {
    ...{
      env: {},
      cwd: "/",
      home: "/nowhere",
      ask: null,
      readLine: async () => null,
      onInterrupt: () => () => undefined,
    },
    ...{ connect: nothing, fetch: nothing, signWebhook: nothing },
    ...given,
  };
}

/** Parses a command line as the program does, without running it. @returns why it is refused; null when it is valid */
export async function refusalOf(words: readonly string[]): Promise<string | null> {
  let stderr = "";
  const collect = new Writable({ write: (chunk: Buffer, _encoding, done) => ((stderr += chunk.toString()), done()) });
  // Everything that it would open is missing.
  const understood = (): Promise<never> => Promise.reject(new Error(UNDERSTOOD));
  const host: CliHost = {
    version: "0",
    invocation: "fermata",
    root: "/opt/fermata",
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stderr: collect,
    confirm: understood,
    caller: callerDouble({
      env: { FERMATA_URL: "https://music.example", FERMATA_API_KEY: "frm_1" },
      connect: understood,
    }),
    open: understood,
    showSettings: understood,
    checkSettings: understood,
    catalogue: understood,
    run: understood,
    serveMcp: understood,
    migrate: understood,
    doctor: understood,
    builtInPlugins: understood,
    checkAdapter: understood,
    importPackage: understood,
    openLiveCheck: understood,
    writePackage: understood,
  };
  const code = await runCli(words, host, () => null);
  return code === 0 || [UNDERSTOOD, UNDERSTOOD_AS_JSON].includes(stderr.trim()) ? null : stderr.trim();
}

/** Splits a line into words as a shell does. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}
