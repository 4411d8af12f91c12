/** What a sandboxed module exports. */
export interface SandboxModule {
  /** Replies to one request; the next comes after the reply. What it throws ends the process. */
  handle(request: object): Promise<object>;
}

/** The first message of a process: its module is loaded, and it waits for requests. */
export const READY = "ready";
