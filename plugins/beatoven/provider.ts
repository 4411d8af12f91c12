import { handleCodec, ProviderFailure } from "../sdk/index.js";
import type { Accepted, CallContext, MusicProvider, ProviderHandle, Snapshot, SubmitRequest } from "../sdk/index.js";
import { BeatovenClient } from "./client.js";
import { compositionOf, snapshotOf } from "./map.js";
import type { Host } from "./settings.js";

const HANDLES = handleCodec(1, ({ taskId }) => (typeof taskId === "string" ? { taskId } : null));

/** Tasks: started with one call, then polled. */
export class BeatovenProvider implements MusicProvider {
  private readonly client: BeatovenClient;
  private readonly pollMs: number;

  constructor(host: Host) {
    this.client = new BeatovenClient(host);
    this.pollMs = host.settings.pollMs;
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "Beatoven.ai splits no tracks.", { billable: "no" });
    const taskId = await this.client.compose(compositionOf(request), signal);
    return { state: "accepted", handle: HANDLES.write({ taskId }), nextPollMs: this.pollMs };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    return snapshotOf(await this.client.task(HANDLES.read(handle).taskId, signal), this.pollMs);
  }
}
