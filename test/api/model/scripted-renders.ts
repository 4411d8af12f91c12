import { EventEmitter, once } from "node:events";
import { ProviderFailure, type Snapshot } from "../../../plugins/sdk/index.js";
import { SCRIPTED_TRACK, type ScriptedProvider, submitAccepts } from "../../support/doubles/scripted-provider.js";

const POLL_MS = 5;

/** Has a provider accept everything, and end each job when the test says so. */
export class ScriptedRenders {
  private readonly events = new EventEmitter().setMaxListeners(0);
  private readonly polled = new Set<string>();
  private readonly ends = new Map<string, "completed" | "failed">();

  constructor(provider: ScriptedProvider) {
    provider.behaviour = submitAccepts(POLL_MS);
    provider.pollBehaviour = async ({ data }) => this.look(String((data as { readonly task: string }).task));
  }

  /** Resolves when the provider was asked for the job: its handle is stored. */
  async begun(jobId: string): Promise<void> {
    while (!this.polled.has(jobId)) await once(this.events, "poll");
  }

  end(jobId: string, outcome: "completed" | "failed"): void {
    this.ends.set(jobId, outcome);
  }

  private look(jobId: string): Snapshot {
    this.polled.add(jobId);
    this.events.emit("poll");
    const outcome = this.ends.get(jobId);
    if (outcome === "failed") throw new ProviderFailure("failed", "scripted: it did not work");
    return outcome === "completed"
      ? { state: "completed", tracks: [SCRIPTED_TRACK] }
      : { state: "running", nextPollMs: POLL_MS };
  }
}
