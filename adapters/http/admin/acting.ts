import { AsyncLocalStorage } from "node:async_hooks";
import type { Actor } from "../../../core/audit/audit-trail.js";

interface Acting {
  actor: Actor | null;
}

/** Who sends the request of the admin API that is being handled, for the audit log. */
export class ActingOperator {
  private readonly requests = new AsyncLocalStorage<Acting>();

  /** Runs what handles a request. */
  run(handle: () => void): void {
    this.requests.run({ actor: null }, handle);
  }

  /** Notes who sends the current request, once that is known. */
  note(actor: Actor): void {
    const acting = this.requests.getStore();
    if (acting !== undefined) acting.actor = actor;
  }

  /** null outside of such a request. */
  current(): Actor | null {
    return this.requests.getStore()?.actor ?? null;
  }
}
