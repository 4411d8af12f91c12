import { Writable } from "node:stream";
import type { CliHost } from "../../adapters/cli/host.js";
import { runCli } from "../../adapters/cli/program.js";

const UNDERSTOOD = "understood";

/** Parses a command line as the program does and carries nothing out. @returns why it is refused; null when it is understood */
export async function refusalOf(words: readonly string[]): Promise<string | null> {
  let stderr = "";
  const collect = new Writable({ write: (chunk: Buffer, _encoding, done) => ((stderr += chunk.toString()), done()) });
  // Whatever it would open is not there.
  const understood = (): Promise<never> => Promise.reject(new Error(UNDERSTOOD));
  const host: CliHost = {
    version: "0",
    root: "/opt/fermata",
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stderr: collect,
    confirm: understood,
    open: understood,
    run: understood,
    migrate: understood,
    doctor: understood,
    importPlugin: understood,
    openLiveCheck: understood,
    writePackage: understood,
  };
  const code = await runCli(words, host, () => false);
  return code === 0 || stderr.trim() === UNDERSTOOD ? null : stderr.trim();
}

/** The words of a line, as a shell splits it. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}
