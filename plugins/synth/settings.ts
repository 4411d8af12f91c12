import { availableParallelism } from "node:os";
import { defineSettings, type ProviderHost } from "../sdk/index.js";

export const SETTINGS = defineSettings({
  testHooks: {
    type: "boolean",
    default: false,
    description: "Obey markers such as [[fail:timeout]] in prompts; for tests only",
  },
  threads: {
    type: "integer",
    default: Math.max(1, availableParallelism() - 1),
    minimum: 1,
    maximum: 64,
    description: "Tracks rendered at once, each in a thread of its own, and as many foreign tracks split at once",
  },
  keepStems: {
    type: "boolean",
    default: true,
    description: "Deliver drums, bass, other and vocals as files of their own in addition to the mix",
  },
});

export type Host = ProviderHost<typeof SETTINGS>;
