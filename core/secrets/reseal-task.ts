import type { MaintenanceTask } from "../maintenance/maintenance.js";
import type { Clock } from "../ports/clock.js";
import type { KeyId } from "../ports/keyring.js";
import type { Logger } from "../ports/logger.js";
import type { KeyStates } from "./key-states.js";
import type { ResealSecrets } from "./reseal.js";

export interface ResealTaskDeps {
  readonly states: Pick<KeyStates, "find">;
  readonly reseal: Pick<ResealSecrets, "execute">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const EVERY_MS = 5_000;
/** By then every process has noticed a rotation, and none seals with the old key any more. */
const NOTICED_MS = 10_000;

/** After a rotation, and after an upgrade from a version without key ids: until a pass finds nothing to do. */
export function resealTask({ states, reseal, clock, logger }: ResealTaskDeps): MaintenanceTask {
  let doneFor: KeyId | null = null;
  return {
    id: "reseal-secrets",
    description: "Seals stored secrets with the current secret key.",
    everyMs: EVERY_MS,
    run: async (signal) => {
      const state = await states.find();
      if (state === null || (state.previous === null && state.unnamed === null) || doneFor === state.current) return;
      const startedAt = clock.now();
      const { resealed } = await reseal.execute(state.current, signal);
      if (resealed > 0) logger.info("Stored secrets were sealed with the current key", { rows: resealed });
      const isNoticed = startedAt - (state.rotatedAt ?? 0) > NOTICED_MS;
      if (resealed === 0 && isNoticed && !signal.aborted) doneFor = state.current;
    },
  };
}
