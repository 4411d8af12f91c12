import { createInterface } from "node:readline";

type Terminal = Pick<NodeJS.Process, "stdin" | "stderr">;

/**
 * Asks on the terminal, and takes `y` and `yes` for a yes; null where input or output is no terminal. Ctrl-C, the end
 * of the input and an input that cannot be read are a no: the operator did not agree.
 */
export function confirmOn(process: Terminal): ((question: string) => Promise<boolean>) | null {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true || stderr.isTTY !== true) return null;
  return async (question) => /^y(es)?$/i.test((await lineFrom(process, `${question} [y/N] `)) ?? "");
}

/** The line that was typed; null when the input ended without one. */
function lineFrom({ stdin, stderr }: Terminal, prompt: string): Promise<string | null> {
  // An input that has ended already emits nothing more.
  if (stdin.readableEnded || stdin.destroyed) return Promise.resolve(null);
  const terminal = createInterface({ input: stdin, output: stderr });
  return new Promise<string | null>((resolve) => {
    const end = (): void => terminal.close();
    // An error of the input as well.
    terminal.once("error", end);
    terminal.once("SIGINT", end);
    const pending = (): void => {
      stderr.write("\n");
      resolve(null);
    };
    terminal.once("close", pending);
    terminal.question(prompt, (line) => {
      terminal.off("close", pending);
      end();
      resolve(line.trim());
    });
  });
}
