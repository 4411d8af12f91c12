/** Attacks on a running process, and their effect on the ordinary requests of others. */
export * from "./attacks.js";
export { type AttackedInstallation, attackedInstallation, hostileProvider } from "./installation.js";
export { type AttackFigures, measured } from "./measure.js";
export { RawConnection, openMany } from "./raw-connection.js";
export { IS_LONG, sized } from "./size.js";
export { AttackTarget } from "./target.js";
