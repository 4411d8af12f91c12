import { asObject, handleCodec, ProviderFailure, providerFailure } from "../sdk/index.js";
import type {
  Accepted,
  ApiResponse,
  CallContext,
  Completed,
  MusicProvider,
  ProviderHandle,
  Snapshot,
  SubmitRequest,
} from "../sdk/index.js";
import { StabilityClient } from "./client.js";
import { callOf, ENDPOINTS, isSound, trackOf } from "./map.js";
import type { Host } from "./settings.js";

const HANDLES = handleCodec(1, ({ id }) => (typeof id === "string" ? { id } : null));

/** Music as the response of the call, or as work that is polled: the model's endpoint decides. */
export class StabilityProvider implements MusicProvider {
  private readonly client: StabilityClient;
  private readonly settings: Host["settings"];

  constructor(host: Host) {
    this.client = new StabilityClient(host);
    this.settings = host.settings;
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed | Accepted> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "Stability makes music; it splits no tracks.", {
        billable: "no",
      });
    const endpoint = String(request.model.options?.["endpoint"]);
    const accept = endpoint === ENDPOINTS[0] ? "application/json" : "audio/*";
    const response = await this.client.generate(callOf(request, this.settings.outputFormat), accept, signal);
    if (isSound(response) && response.bytes.length > 0) return completed(response);
    const { id } = response.status === 202 ? asObject(response.json()) : {};
    if (typeof id !== "string" || id === "")
      throw providerFailure("outcome_unknown", response, { message: "It answered neither music nor an id." });
    return { state: "accepted", handle: HANDLES.write({ id }), nextPollMs: this.settings.pollMs };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const response = await this.client.result(HANDLES.read(handle).id, signal);
    if (response.status === 202) return { state: "running", nextPollMs: this.settings.pollMs };
    // A response without a known state does not say that the work ended.
    if (!isSound(response)) throw providerFailure("unavailable", response, { message: "The response has no sound." });
    if (response.bytes.length === 0)
      throw providerFailure("failed", response, { message: "It answered sound of no length." });
    return completed(response);
  }
}

function completed(response: ApiResponse): Completed {
  return { state: "completed", tracks: [trackOf(response)] };
}
