import { bagOf, ProviderFailure, providerFailure } from "../../core/ports/music-provider.js";
import type {
  Accepted,
  ApiAnswer,
  CallContext,
  Completed,
  MusicProvider,
  ProviderHandle,
  ProviderHost,
  Snapshot,
  SubmitRequest,
} from "../../core/ports/music-provider.js";
import { StabilityClient } from "./client.js";
import { ENDPOINTS, formOf, isSound, trackOf } from "./map.js";

const HANDLE_VERSION = 1;

/** Music as the answer of the call, or as work that is asked after: as the model has it. */
export class StabilityProvider implements MusicProvider {
  private readonly client: StabilityClient;
  private readonly outputFormat: string;
  private readonly pollMs: number;

  constructor(host: ProviderHost) {
    this.client = new StabilityClient(host);
    this.outputFormat = String(host.settings["outputFormat"]);
    this.pollMs = Number(host.settings["pollMs"]);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed | Accepted> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "Stability makes music; it takes no tracks apart.", { billable: "no" });
    const endpoint = String(request.model.options?.["endpoint"]);
    const accept = endpoint === ENDPOINTS[0] ? "application/json" : "audio/*";
    const answer = await this.client.generate(endpoint, formOf(request, this.outputFormat), accept, signal);
    if (isSound(answer) && answer.bytes.length > 0) return completed(answer);
    const { id } = answer.status === 202 ? bagOf(answer.json()) : {};
    if (typeof id !== "string" || id === "")
      throw providerFailure("outcome_unknown", answer, { message: "It answered neither music nor an id." });
    return { state: "accepted", handle: { version: HANDLE_VERSION, data: { id } }, nextPollMs: this.pollMs };
  }

  async poll({ version, data: { id } }: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    if (version !== HANDLE_VERSION || typeof id !== "string") throw new ProviderFailure("failed", "The handle is none of this plugin's.");
    const answer = await this.client.result(id, signal);
    if (answer.status === 202) return { state: "running", nextPollMs: this.pollMs };
    // What says nothing does not say that the work ended.
    if (!isSound(answer)) throw providerFailure("unavailable", answer, { message: "It answered no sound." });
    if (answer.bytes.length === 0) throw providerFailure("failed", answer, { message: "It answered sound of no length." });
    return completed(answer);
  }
}

function completed(answer: ApiAnswer): Completed {
  return { state: "completed", tracks: [trackOf(answer)] };
}
