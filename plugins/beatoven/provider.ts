import { ProviderFailure } from "../../core/ports/music-provider.js";
import type {
  Accepted,
  CallContext,
  MusicProvider,
  ProviderHandle,
  ProviderHost,
  Snapshot,
  SubmitRequest,
} from "../../core/ports/music-provider.js";
import { BeatovenClient } from "./client.js";
import { compositionOf, snapshotOf } from "./map.js";

const HANDLE_VERSION = 1;

/** Tasks: started with one call, then polled. */
export class BeatovenProvider implements MusicProvider {
  private readonly client: BeatovenClient;
  private readonly pollMs: number;

  constructor(host: ProviderHost) {
    this.client = new BeatovenClient(host);
    this.pollMs = Number(host.settings["pollMs"]);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation !== "music") throw new ProviderFailure("invalid_input", "Beatoven.ai takes no tracks apart.", { billable: "no" });
    const taskId = await this.client.compose(compositionOf(request), signal);
    return { state: "accepted", handle: { version: HANDLE_VERSION, data: { taskId } }, nextPollMs: this.pollMs };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    return snapshotOf(await this.client.task(taskIdOf(handle), signal), this.pollMs);
  }
}

function taskIdOf({ version, data: { taskId } }: ProviderHandle): string {
  if (version !== HANDLE_VERSION || typeof taskId !== "string") throw new ProviderFailure("failed", "The handle is none of this plugin's.");
  return taskId;
}
