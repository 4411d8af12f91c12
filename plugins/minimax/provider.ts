import { ProviderFailure, providerFailure } from "../sdk/index.js";
import type { CallContext, Completed, MusicProvider, SubmitRequest } from "../sdk/index.js";
import { MiniMaxClient } from "./client.js";
import { generationOf, trackIn } from "./map.js";
import type { Host } from "./settings.js";

/** One call that creates the music and returns it, or a link to it. */
export class MiniMaxProvider implements MusicProvider {
  private readonly client: MiniMaxClient;

  constructor(private readonly host: Host) {
    this.client = new MiniMaxClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "MiniMax makes music; it splits no tracks.", { billable: "no" });
    const response = await this.client.generate(generationOf(request, this.host.settings), signal);
    const track = trackIn(response.json(), this.host.clock.now());
    if (track === null) throw providerFailure("outcome_unknown", response, { message: "The response has no music." });
    return { state: "completed", tracks: [track] };
  }
}
