import type { Group } from "./definition.js";
import * as kind from "./kinds.js";

export const ledger = {
  fullCheckHours: kind.duration({
    default: 24,
    max: 8_760,
    unit: "hours",
    description: "How often the watch of the ledger goes through all of it, and not only through what is new",
  }),
  keepMonths: kind.optional(
    kind.integer({
      min: 1,
      max: 1_200,
      unit: "months",
      description: "How long entries stay in the ledger before `fermata ledger archive` moves them to files",
    }),
    "all",
  ),
  archiveDir: kind.path({
    default: kind.workedOut("`ledger-archives` in `dataDir`", ({ at }) => `${String(at("dataDir"))}/ledger-archives`),
    description: "Directory of the archives of the ledger",
  }),
} as const satisfies Group;
