import { handleCodec, type JsonObject, ProviderFailure } from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  MusicProvider,
  ProbeResult,
  ProviderHandle,
  Snapshot,
  SubmitRequest,
} from "../sdk/index.js";
import { MubertClient } from "./client.js";
import { creationOf, probeOf, snapshotOf } from "./map.js";
import type { Host } from "./settings.js";

interface Work {
  readonly trackId: string;
  /** The customer that the track was created for, who alone can poll it. */
  readonly customId: string;
}

const HANDLES = handleCodec(1, ({ trackId, customId }: JsonObject): Work | null =>
  typeof trackId === "string" && typeof customId === "string" ? { trackId, customId } : null,
);

/** Tracks: created with one call, then polled. */
export class MubertProvider implements MusicProvider {
  private readonly client: MubertClient;
  private readonly customId: string;
  private readonly pollMs: number;

  constructor(private readonly host: Host) {
    const { customId, pollMs } = host.settings;
    this.customId = customId;
    if (!/^[a-zA-Z0-9._@-]{1,255}$/.test(customId))
      throw new Error(`customId: ${JSON.stringify(customId)}; allowed: 1 to 255 letters, digits and . _ @ -`);
    this.pollMs = pollMs;
    this.client = new MubertClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "Mubert splits no tracks.", { billable: "no" });
    const { customId } = this;
    const trackId = await this.client.create(customId, creationOf(request), signal);
    return { state: "accepted", handle: HANDLES.write({ trackId, customId }), nextPollMs: this.pollMs };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { customId, trackId } = HANDLES.read(handle);
    return snapshotOf(await this.client.track(customId, trackId, signal), this.host.clock.now(), this.pollMs);
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    return probeOf(await this.client.licenses(signal));
  }
}
