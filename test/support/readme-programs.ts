import { readFileSync } from "node:fs";
import { repositoryPath } from "./repository.js";

/** Programs in Markdown: blocks of TypeScript that import this entry of the package, in their order. */
export function programsIn(path: string, entry: string): string[] {
  const text = readFileSync(repositoryPath(path), "utf8");
  const blocks = [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code);
  return blocks.filter((code) => code.includes(`from "${entry}"`));
}
