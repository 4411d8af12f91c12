import type { Group } from "./definition.js";
import * as kind from "./kinds.js";

export const ledger = {
  fullCheckHours: kind.duration({
    default: 24,
    max: 8_760,
    unit: "hours",
    description: "How often the watch of the ledger goes through all of it, and not only through what is new",
  }),
} as const satisfies Group;
