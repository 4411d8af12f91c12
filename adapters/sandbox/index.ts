export type { SandboxLimits } from "./limits.js";
export type { SandboxModule } from "./messages.js";
export { Sandbox, type SandboxOptions, type SandboxTask } from "./sandbox.js";
export { openProviderSandbox } from "./provider-sandbox.js";
export { SandboxError, SandboxLimitError, SandboxStartError } from "./sandbox-process.js";
export { raceAbort } from "./race-abort.js";
export type { ProcessUsage } from "./usage.js";
