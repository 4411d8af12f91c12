import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

/**
 * Starts a thread with this file: the compiled one, or the source next to it when this code itself runs under tsx.
 *
 * @param file its URL, which ends with `.js`
 */
export function startThread(file: URL, options: { readonly workerData: unknown; readonly name: string }): Worker {
  const given = { ...options, execArgv: [] };
  if (!import.meta.url.endsWith(".ts")) return new Worker(file, given);
  // A thread on Node 20 does not inherit tsx, and its first file must be one that Node can read without it.
  // Resolved next to "tsx/esm": as "tsx/esm/api" a require gets tsx's CommonJS copy, which cannot register in a thread.
  const api = new URL("./api/index.mjs", pathToFileURL(createRequire(import.meta.url).resolve("tsx/esm"))).href;
  const entry = file.href.replace(/\.js$/, ".ts");
  const code =
    `import(${JSON.stringify(api)}).then(({ register }) => { register(); return ` +
    `import(${JSON.stringify(entry)}); });`;
  return new Worker(code, { ...given, eval: true });
}
