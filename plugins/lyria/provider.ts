import { ProviderFailure, providerFailure } from "../../core/ports/music-provider.js";
import type {
  ApiAnswer,
  CallContext,
  Completed,
  MusicProvider,
  MusicRequest,
  ProviderHost,
  SubmitRequest,
} from "../../core/ports/music-provider.js";
import { GeminiClient, VertexClient } from "./client.js";
import { clipsIn, contentBody, predictBody, songIn } from "./map.js";
import { readSettings } from "./settings.js";

/** One call that makes the music and answers it, by the door that the model is behind. */
export class LyriaProvider implements MusicProvider {
  private readonly gemini: GeminiClient | null;
  private readonly vertex: VertexClient | null;

  constructor(host: ProviderHost) {
    const { gemini, vertex, timeoutMs } = readSettings(host);
    this.gemini = gemini === null ? null : new GeminiClient(gemini, timeoutMs, host);
    this.vertex = vertex === null ? null : new VertexClient(vertex, timeoutMs, host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed> {
    if (request.operation !== "music")
      throw new ProviderFailure("invalid_input", "Lyria makes music; it takes no tracks apart.", { billable: "no" });
    const isVertex = request.model.options?.["api"] === "vertex";
    const answer = isVertex ? await this.predict(request, signal) : await this.generate(request, signal);
    const tracks = isVertex ? clipsIn(answer.json()) : songIn(answer.json());
    if (ProviderFailure.is(tracks)) throw tracks;
    if (tracks === null) throw providerFailure("outcome_unknown", answer, { message: "It answered no music." });
    return { state: "completed", tracks };
  }

  private predict(request: MusicRequest, signal: AbortSignal): Promise<ApiAnswer> {
    if (this.vertex === null) throw closed(request, "serviceAccount");
    return this.vertex.predict(request.model.upstream ?? "", predictBody(request), signal);
  }

  private generate(request: MusicRequest, signal: AbortSignal): Promise<ApiAnswer> {
    if (this.gemini === null) throw closed(request, "apiKey");
    return this.gemini.generate(request.model.upstream ?? "", contentBody(request), signal);
  }
}

function closed({ model }: MusicRequest, setting: string): ProviderFailure {
  return new ProviderFailure("invalid_input", `${model.id} needs the setting ${setting}.`, { billable: "no" });
}
