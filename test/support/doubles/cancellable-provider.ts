import type { CancelOutcome } from "../../../core/ports/music-provider.js";
import type { TestAppOptions } from "../test-app.js";
import { ScriptedProvider, submitAccepts } from "./scripted-provider.js";

/** A provider that can be asked to cancel, and renders until it is. */
export class CancellableProvider extends ScriptedProvider {
  asked = 0;
  /** Resolves with the first poll: the handle is stored. */
  readonly polled: Promise<void>;
  reply: CancelOutcome = "cancelled";

  constructor() {
    super();
    this.behaviour = submitAccepts(20);
    this.polled = new Promise((resolve) => {
      this.pollBehaviour = () => {
        resolve();
        return Promise.resolve({ state: "running", nextPollMs: 20 });
      };
    });
  }

  get options(): TestAppOptions {
    const capabilities = { idempotentSubmit: true, lookup: false, cancel: true };
    return { plugins: [{ ...this.definition, capabilities }] };
  }

  cancel(): Promise<CancelOutcome> {
    this.asked++;
    return Promise.resolve(this.reply);
  }
}
