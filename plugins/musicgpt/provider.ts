import { handleCodec, ProviderFailure } from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  MusicProvider,
  ProbeResult,
  ProviderHandle,
  Snapshot,
  SubmitRequest,
} from "../sdk/index.js";
import { MusicGptClient } from "./client.js";
import { bodyOf, snapshotOf } from "./map.js";
import type { Host } from "./settings.js";

const HANDLES = handleCodec(1, ({ taskId }) => (typeof taskId === "string" ? { taskId } : null));

/** The estimate when the API reports none. */
const ETA_SECONDS = 20;
const FIRST_POLL_MIN_SECONDS = 10;
const FIRST_POLL_MAX_SECONDS = 60;

/** Tasks of two tracks: each is started with one call, then polled. */
export class MusicGptProvider implements MusicProvider {
  private readonly client: MusicGptClient;

  constructor(private readonly host: Host) {
    this.client = new MusicGptClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "This plugin splits no tracks.", { billable: "no" });
    const { taskId, etaSeconds } = await this.client.generate(bodyOf(request), signal);
    const wait = Math.min(Math.max(etaSeconds ?? ETA_SECONDS, FIRST_POLL_MIN_SECONDS), FIRST_POLL_MAX_SECONDS);
    return { state: "accepted", handle: HANDLES.write({ taskId }), nextPollMs: wait * 1_000 };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { taskId } = HANDLES.read(handle);
    const { clock, settings } = this.host;
    return snapshotOf(await this.client.conversion(taskId, signal), clock.now(), settings.pollMs);
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    await this.client.check(signal);
    return { credit: null, warnings: [] };
  }
}
