import type { NemesisOptions } from "./run.js";

type Form = Omit<NemesisOptions, "seed" | "faultsMs">;

/** Everything at its usual length: a process is paused for longer than the default lease. */
export const LONG: Form = {
  leaseSeconds: 30,
  unknownGraceSeconds: 60,
  pauseMs: 45_000,
  faultMs: [3_000, 40_000],
  faultsAtOnce: 3,
  gapMs: [500, 4_000],
  renderMs: 2_000,
  callSeconds: 30,
  deliverySeconds: 15,
  deliveryTimeoutSeconds: 15,
  analyser: "builtin",
  clients: 6,
  clientPauseMs: [500, 2_000],
};

/** The same in a hurry. */
export const SHORT: Form = {
  leaseSeconds: 1.5,
  unknownGraceSeconds: 10,
  pauseMs: 2_600,
  faultMs: [400, 2_000],
  faultsAtOnce: 3,
  gapMs: [100, 400],
  renderMs: 300,
  callSeconds: 4,
  deliverySeconds: 2,
  deliveryTimeoutSeconds: 2,
  analyser: "none",
  clients: 4,
  clientPauseMs: [50, 250],
};
