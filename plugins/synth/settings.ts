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
  keepMaster: {
    type: "boolean",
    default: true,
    description: "Store a lossless copy (FLAC) of each track, which splits and other providers work from",
  },
  keepStems: {
    type: "boolean",
    default: false,
    description: "Store drums, bass, other and vocals of each track as well (FLAC); splits do not need them",
  },
});

export type Host = ProviderHost<typeof SETTINGS>;
