import { createInterface } from "node:readline/promises";

/** Asks on the terminal, and takes `y` and `yes` for a yes; null where input or output is no terminal. */
export function confirmOn({
  stdin,
  stderr,
}: Pick<NodeJS.Process, "stdin" | "stderr">): ((question: string) => Promise<boolean>) | null {
  if (stdin.isTTY !== true || stderr.isTTY !== true) return null;
  return async (question) => {
    const terminal = createInterface({ input: stdin, output: stderr });
    try {
      return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
    } finally {
      terminal.close();
    }
  };
}
