import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import { TemplateProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

export default defineProvider({
  id: "template",
  label: "Template",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // The host ends a call that takes longer: add timeouts up where one method makes several requests.
  longestCallMs: ({ timeoutMs }) => timeoutMs,
  // Calls go to the base URL of the settings, and nowhere else.
  hosts: [],
  settings: SETTINGS,
  models: [
    {
      id: "template/v1",
      name: "Template v1",
      creditCost: 10,
      supportsLyrics: true,
      supportsInstrumental: true,
      duration: { minSeconds: 10, maxSeconds: 240, defaultSeconds: 60 },
    },
  ],
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false, callbacks: "none" },
  create: (host) => new TemplateProvider(host),
});
