export type { SandboxLimits } from "./limits.js";
export type { SandboxModule } from "./messages.js";
export { Sandbox, type SandboxOptions, type SandboxTask } from "./sandbox.js";
export { SandboxError } from "./sandbox-process.js";
export type { ProcessUsage } from "./usage.js";
