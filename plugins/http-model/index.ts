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

function checkModel({ options = {} }: ProviderModel): string | null {
  const odd = Object.entries(options).find(
    ([name, value]) => !/^[\w-]+$/.test(name) || !["string", "number", "boolean"].includes(typeof value),
  );
  return odd === undefined
    ? null
    : `options.${odd[0]}: allowed: text, numbers, booleans, by names of letters, digits, _ and -`;
}
