const MIB = 1024 * 1024;

/** What one child process may use before it is killed. */
export interface SandboxLimits {
  /** Resident memory of the process, in bytes, Node itself (some 50 MiB) included. */
  readonly memoryBytes: number;
  /** Processor time that one task may take, in milliseconds. */
  readonly cpuMs: number;
  /** How long the process may take for one reply, in milliseconds. */
  readonly replyMs: number;
}

export const DEFAULT_LIMITS: SandboxLimits = { memoryBytes: 320 * MIB, cpuMs: 180_000, replyMs: 60_000 };

/** JavaScript objects alone; what decoders hold is outside of this heap. */
export const HEAP_MAX_MIB = 128;

/**
 * Writable private memory that the kernel grants beyond the limit of resident memory, and beyond what an idle runtime
 * reserves: thread stacks and reserves of the allocator count there although they are never touched.
 */
export const UNTOUCHED_BYTES = 112 * MIB;

/** A process is replaced after this many tasks, or once it has used the processor time that one task may take. */
export const TASKS_PER_PROCESS = 32;

/** Processor time that it takes a process to start, at most. */
export const START_CPU_SECONDS = 10;

/** How long a process may take until it is ready for requests, on a machine with other things to do. */
export const START_TIMEOUT_MS = 60_000;
