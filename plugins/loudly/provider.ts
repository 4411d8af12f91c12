import { ProviderFailure } from "../sdk/index.js";
import type { CallContext, Completed, MusicProvider, ProbeResult, SubmitRequest } from "../sdk/index.js";
import { LoudlyClient } from "./client.js";
import { formOf, probeOf, trackOf } from "./map.js";
import type { Host } from "./settings.js";

/** Songs: the call that creates one returns when the song is done. */
export class LoudlyProvider implements MusicProvider {
  private readonly client: LoudlyClient;

  constructor(host: Host) {
    this.client = new LoudlyClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "Loudly splits no tracks.", { billable: "no" });
    const song = await this.client.song(formOf(request), signal);
    return { state: "completed", tracks: [trackOf(song)] };
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    return probeOf(await this.client.limits(signal));
  }
}
