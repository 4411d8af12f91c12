import type { ServiceIdentifier } from "inversify";
import type { HttpDeps } from "../adapters/http/index.js";
import type { Core } from "../core/create-core.js";
import type { CorePorts } from "../core/ports/core-ports.js";
import type { Settings } from "./settings.js";

function token<T>(name: string): ServiceIdentifier<T> {
  return Symbol(name);
}

/** What the container of a server holds, besides its controllers. */
export const TOKENS = {
  settings: token<Settings>("Settings"),
  ports: token<CorePorts>("CorePorts"),
  core: token<Core>("Core"),
  httpDeps: token<HttpDeps>("HttpDeps"),
} as const;
