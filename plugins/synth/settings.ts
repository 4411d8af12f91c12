import { availableParallelism } from "node:os";
import { defineSettings, type ProviderHost } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  testHooks: {
    type: "boolean",
    default: false,
    description: "Apply markers such as [[fail:timeout]] in prompts; for tests only",
  },
  threads: {
    type: "integer",
    default: Math.max(1, availableParallelism() - 1),
    minimum: 1,
    maximum: 64,
    description: "Tracks rendered concurrently, each in its own thread, and as many concurrent splits of other audio",
  },
  keepStems: {
    type: "boolean",
    default: true,
    description: "Return drums, bass, other and vocals as separate files in addition to the mix",
  },
});

export type Host = ProviderHost<typeof SETTINGS>;
