import { handleCodec, ProviderFailure, providerFailure } from "../sdk/index.js";
import type {
  Accepted,
  ApiResponse,
  CallContext,
  CancelOutcome,
  Completed,
  MusicProvider,
  MusicRequest,
  ProviderHandle,
  Snapshot,
  SubmitRequest,
} from "../sdk/index.js";
import { GeminiClient, VertexClient } from "./client.js";
import { cancelOutcomeIn, interactionIn } from "./interactions.js";
import { clipsIn, contentBody, interactionBody, predictBody, songIn } from "./map.js";
import { type Host, readSettings } from "./settings.js";

const HANDLES = handleCodec(1, ({ id }) => (typeof id === "string" && id !== "" ? { id } : null));

/** Music by the API that the model is on: as work in the background, or as the response of one call. */
export class LyriaProvider implements MusicProvider {
  readonly cancel?: (handle: ProviderHandle, context: CallContext) => Promise<CancelOutcome>;
  private readonly gemini: GeminiClient | null;
  private readonly vertex: VertexClient | null;
  private readonly inBackground: boolean;
  private readonly pollMs: number;

  constructor(host: Host) {
    const { gemini, vertex } = readSettings(host);
    this.gemini = gemini === null ? null : new GeminiClient(gemini, host);
    this.vertex = vertex === null ? null : new VertexClient(vertex, host);
    this.inBackground = gemini?.inBackground === true;
    this.pollMs = host.settings.pollMs;
    if (this.inBackground) this.cancel = (handle, context) => this.cancelInteraction(handle, context);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed | Accepted> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "Lyria creates music; it splits no tracks.", { billable: "no" });
    const isVertex = request.model.options?.["api"] === "vertex";
    if (!isVertex && this.inBackground) return this.interact(request, signal);
    const response = isVertex ? await this.predict(request, signal) : await this.generate(request, signal);
    const tracks = isVertex ? clipsIn(response.json()) : songIn(response.json());
    if (ProviderFailure.is(tracks)) throw tracks;
    if (tracks === null) throw providerFailure("outcome_unknown", response, { message: "The response has no music." });
    return { state: "completed", tracks };
  }

  /** Polls work to its end that was accepted before `geminiApi` was changed. */
  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const response = await this.opened().interaction(HANDLES.read(handle).id, signal);
    const interaction = interactionIn(response.json());
    if (interaction.state === "running") return { state: "running", nextPollMs: this.pollMs };
    if (interaction.state === "completed") return interaction;
    if (interaction.state === "ended") throw interaction.failure;
    throw providerFailure("unavailable", response, { message: "The response has no status." });
  }

  private async interact(request: MusicRequest, signal: AbortSignal): Promise<Completed | Accepted> {
    if (this.gemini === null) throw closed(request, "apiKey");
    const response = await this.gemini.createInteraction(interactionBody(request), signal);
    const interaction = interactionIn(response.json());
    if (interaction.state === "completed") return interaction;
    if (interaction.state === "ended") throw interaction.failure;
    if (interaction.state === "unclear")
      throw providerFailure("outcome_unknown", response, { message: "The response has no id." });
    return { state: "accepted", handle: HANDLES.write({ id: interaction.id }), nextPollMs: this.pollMs };
  }

  private async cancelInteraction(handle: ProviderHandle, { signal }: CallContext): Promise<CancelOutcome> {
    try {
      return cancelOutcomeIn((await this.opened().cancelInteraction(HANDLES.read(handle).id, signal)).json());
    } catch (error) {
      // Work that ended, or a model whose work cannot be cancelled: it is polled to its end.
      if (ProviderFailure.is(error) && (error.kind === "gone" || error.kind === "invalid_input")) return "too_late";
      throw error;
    }
  }

  private predict(request: MusicRequest, signal: AbortSignal): Promise<ApiResponse> {
    if (this.vertex === null) throw closed(request, "serviceAccount");
    return this.vertex.predict(request.model.upstream ?? "", predictBody(request), signal);
  }

  private generate(request: MusicRequest, signal: AbortSignal): Promise<ApiResponse> {
    if (this.gemini === null) throw closed(request, "apiKey");
    return this.gemini.generate(request.model.upstream ?? "", contentBody(request), signal);
  }

  private opened(): GeminiClient {
    if (this.gemini === null) throw new ProviderFailure("misconfigured", "Accepted work needs the setting apiKey.");
    return this.gemini;
  }
}

function closed({ model }: MusicRequest, setting: string): ProviderFailure {
  return new ProviderFailure("invalid_input", `${model.id} needs the setting ${setting}.`, { billable: "no" });
}
