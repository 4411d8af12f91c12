import { PROVIDER_PORT_VERSION, defineProvider } from "../sdk/index.js";
import type { ProviderModel } from "../sdk/index.js";
import { HttpModelProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

/** A model server of the operator's own (MusicGen, ACE-Step, …): its models and its shape are settings. */
export default defineProvider({
  id: "http-model",
  label: "Model server",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: ({ concurrency }) => concurrency,
  longestCallMs: ({ timeoutSeconds }) => timeoutSeconds * 1_000,
  hosts: [],
  settings: SETTINGS,
  models: [],
  checkModel,
  capabilities: ({ idempotent, cancelPath = "", callbacks }) => ({
    idempotentSubmit: idempotent,
    lookup: false,
    cancel: cancelPath.trim() !== "",
    callbacks: callbacks ? "hints" : "none",
  }),
  create: (host) => new HttpModelProvider(host),
});

function checkModel({ options = {}, requestOptions = {} }: ProviderModel): string | null {
  const invalid = Object.entries(options).find(
    ([name, value]) => !/^[\w-]+$/.test(name) || !["string", "number", "boolean"].includes(typeof value),
  );
  if (invalid !== undefined)
    return `options.${invalid[0]}: allowed: text, numbers, booleans, by names of letters, digits, _ and -`;
  // One placeholder stands for both.
  const twice = Object.keys(requestOptions).find((name) => Object.hasOwn(options, name));
  return twice === undefined
    ? null
    : `has options.${twice} and requestOptions.${twice}; allowed: one of them, the first as the default of the second`;
}
