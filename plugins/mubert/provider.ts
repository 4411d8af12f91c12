import { ProviderFailure } from "../../core/ports/music-provider.js";
import type {
  Accepted,
  CallContext,
  MusicProvider,
  ProbeResult,
  ProviderHandle,
  ProviderHost,
  Snapshot,
  SubmitRequest,
} from "../../core/ports/music-provider.js";
import { MubertClient } from "./client.js";
import { creationOf, probeOf, snapshotOf } from "./map.js";

const HANDLE_VERSION = 1;

interface Work {
  readonly trackId: string;
  /** The customer that the track was made for, who alone can ask after it. */
  readonly customId: string;
}

/** Tracks: created with one call, then polled. */
export class MubertProvider implements MusicProvider {
  private readonly client: MubertClient;
  private readonly customId: string;
  private readonly pollMs: number;

  constructor(private readonly host: ProviderHost) {
    const { customId, pollMs } = host.settings;
    this.customId = String(customId);
    if (!/^[a-zA-Z0-9._@-]{1,255}$/.test(this.customId))
      throw new Error(`customId: ${JSON.stringify(customId)}; allowed: 1 to 255 letters, digits and . _ @ -`);
    this.pollMs = Number(pollMs);
    this.client = new MubertClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation !== "music") throw new ProviderFailure("invalid_input", "Mubert takes no tracks apart.", { billable: "no" });
    const { customId } = this;
    const trackId = await this.client.create(customId, creationOf(request), signal);
    const work: Work = { trackId, customId };
    return { state: "accepted", handle: { version: HANDLE_VERSION, data: { ...work } }, nextPollMs: this.pollMs };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { customId, trackId } = workOf(handle);
    return snapshotOf(await this.client.track(customId, trackId, signal), this.host.clock.now(), this.pollMs);
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    return probeOf(await this.client.licenses(signal));
  }
}

function workOf({ version, data }: ProviderHandle): Work {
  if (version !== HANDLE_VERSION || typeof data["trackId"] !== "string" || typeof data["customId"] !== "string")
    throw new ProviderFailure("failed", "The handle is none of this plugin's.");
  return data as unknown as Work;
}
