import type { Guard } from "../guard.js";
import { ACCESS } from "./access.js";
import { ATTEMPTS } from "./attempts.js";
import { CREDITS } from "./credits.js";
import { LIBRARY_ACCESS } from "./library.js";
import { LIMITS } from "./limits.js";
import { NETWORK } from "./network.js";
import { STORAGE } from "./storage.js";

/** Guards that no shape finds. */
export const DECLARED: readonly Guard[] = [
  ...ATTEMPTS,
  ...CREDITS,
  ...STORAGE,
  ...ACCESS,
  ...LIBRARY_ACCESS,
  ...NETWORK,
  ...LIMITS,
];
