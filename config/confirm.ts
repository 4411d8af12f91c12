import { createInterface } from "node:readline";
import { Writable } from "node:stream";

type Terminal = Pick<NodeJS.Process, "stdin" | "stderr">;

interface AskOptions {
  /** What is typed is not shown. */
  readonly isHidden?: boolean;
  /** Ends the question. */
  readonly signal?: AbortSignal;
}

/**
 * Asks on the terminal; null where input or output is no terminal. The question returns null at Ctrl-C, at the end of
 * the input, when it cannot be read, and once the signal aborts.
 */
export function askOn(process: Terminal): ((question: string, options?: AskOptions) => Promise<string | null>) | null {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true || stderr.isTTY !== true) return null;
  return (question, options = {}) => lineFrom(process, question, options);
}

/** Asks for a yes or no: `y` and `yes` are a yes, and no line at all is a no, since the operator did not agree. */
export function confirmOn(process: Terminal): ((question: string) => Promise<boolean>) | null {
  const ask = askOn(process);
  return ask && (async (question) => /^y(es)?$/i.test((await ask(`${question} [y/N] `)) ?? ""));
}

/** The line that was typed; null when the input ended without one. */
function lineFrom({ stdin, stderr }: Terminal, prompt: string, options: AskOptions): Promise<string | null> {
  const { isHidden = false, signal } = options;
  // An input that has ended already emits nothing more.
  if (stdin.readableEnded || stdin.destroyed || signal?.aborted === true) return Promise.resolve(null);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: isHidden ? silent : stderr, terminal: true });
  if (isHidden) stderr.write(prompt);
  return new Promise<string | null>((resolve) => {
    const end = (): void => terminal.close();
    // An error of the input as well.
    terminal.once("error", end);
    terminal.once("SIGINT", end);
    signal?.addEventListener("abort", end);
    const pending = (): void => {
      signal?.removeEventListener("abort", end);
      stderr.write("\n");
      resolve(null);
    };
    terminal.once("close", pending);
    terminal.question(isHidden ? "" : prompt, (line) => {
      terminal.off("close", pending);
      signal?.removeEventListener("abort", end);
      if (isHidden) stderr.write("\n");
      end();
      resolve(line.trim());
    });
  });
}
