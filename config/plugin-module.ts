/** Stands for a module of a plugin in a process of its own; its query names the module and the plugin's folder. */
import { provideFermata } from "./plugin-imports.js";

const { searchParams } = new URL(import.meta.url);
provideFermata(searchParams.get("folder") ?? "");

/** As a sandbox calls it. */
export const { handle } = (await import(searchParams.get("url") ?? "")) as {
  readonly handle: (request: object) => Promise<object>;
};
