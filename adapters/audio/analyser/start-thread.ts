import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

/** For the thread's own objects; what a decoder holds lies outside of it and is bounded by the format. */
const HEAP_MAX_MB = 256;

const OPTIONS = {
  execArgv: [],
  name: "audio-analysis",
  stdout: true,
  stderr: true,
  resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
};

const isCompiled = !import.meta.url.endsWith(".ts");

/** Starts the file beside this one: the compiled one, or the source when this file itself runs under tsx. */
export function startAnalysisThread(): Worker {
  const thread = isCompiled ? new Worker(new URL("./thread.js", import.meta.url), OPTIONS) : startSource();
  // Decoders write what they think of a file to the console.
  thread.stdout.resume();
  thread.stderr.resume();
  return thread;
}

function startSource(): Worker {
  // A thread on Node 20 does not inherit tsx, and its first file must be one that Node can read without it.
  // Resolved beside "tsx/esm": as "tsx/esm/api" a require gets tsx's CommonJS copy, which cannot register in a thread.
  const api = new URL("./api/index.mjs", pathToFileURL(createRequire(import.meta.url).resolve("tsx/esm"))).href;
  const entry = new URL("./thread.ts", import.meta.url).href;
  const code = `import(${JSON.stringify(api)}).then(({ register }) => { register(); return import(${JSON.stringify(entry)}); });`;
  return new Worker(code, { ...OPTIONS, eval: true });
}
