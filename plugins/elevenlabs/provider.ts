import { asObject, ProviderFailure, providerFailure } from "../sdk/index.js";
import type {
  ApiResponse,
  CallContext,
  Completed,
  JsonObject,
  MusicProvider,
  MusicReference,
  MusicRequest,
  ProbeResult,
  SourceAudio,
  SplitRequest,
  SubmitRequest,
} from "../sdk/index.js";
import { ElevenLabsClient } from "./client.js";
import { planBody, probeResultOf, promptBody, splitForm, stemsIn, trackIn } from "./map.js";
import { planIn, withLyrics, withoutWords } from "./plan.js";
import { cutOf, fittedChunks, joinedPlan, songIdIn, voiceless } from "./references.js";
import type { Host } from "./settings.js";
import { afterUpload, Uploads } from "./uploads.js";

/** One call that creates the music, or the stems, and returns them. */
export class ElevenLabsProvider implements MusicProvider {
  private readonly client: ElevenLabsClient;
  private readonly uploads = new Uploads();
  private readonly storesSongs: boolean;

  constructor(host: Host) {
    this.client = new ElevenLabsClient(host);
    this.storesSongs = host.settings.storeForInpainting;
  }

  submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed> {
    return request.operation === "music" ? this.compose(request, signal) : this.separate(request, signal);
  }

  /** A key may have the permission for music alone: it works, but cannot read the remaining credits. */
  async probe({ signal }: CallContext): Promise<ProbeResult> {
    try {
      return probeResultOf(asObject((await this.client.subscription(signal)).json()));
    } catch (error) {
      if (!ProviderFailure.is(error) || error.providerCode !== "missing_permissions") throw error;
      return { credit: null, warnings: ["The key lacks the permission user_read: its credits cannot be read."] };
    }
  }

  private async compose(request: MusicRequest, signal: AbortSignal): Promise<Completed> {
    const isStored = this.storesSongs && request.model.references !== undefined;
    const stored = isStored ? { store_for_inpainting: true } : {};
    const response =
      request.reference === undefined
        ? await this.client.compose({ ...(await this.bodyOf(request, signal)), ...stored }, signal)
        : await this.composeFrom(request, request.reference, stored, signal);
    const track = trackIn(response, isStored);
    if (track === null) throw providerFailure("outcome_unknown", response, { message: "The response has no music." });
    return { state: "completed", tracks: [track] };
  }

  private async bodyOf(request: MusicRequest, signal: AbortSignal): Promise<JsonObject> {
    const lyrics = request.lyrics?.trim() ?? "";
    const isPlanned = lyrics !== "" || request.options["seed"] !== undefined;
    return isPlanned ? this.plannedBody(request, lyrics, signal) : promptBody(request);
  }

  /** The plan costs nothing, so it precedes the upload, which is billed. */
  private async composeFrom(
    request: MusicRequest,
    reference: MusicReference,
    stored: JsonObject,
    signal: AbortSignal,
  ): Promise<ApiResponse> {
    const { jobId, model, options } = request;
    const cut = cutOf(request, reference);
    const chunks = await this.chunksOf(request, cut.partMs, signal);
    const keepsNothing = cut.head === null && cut.tail === null;
    const own = keepsNothing ? null : songIdIn(reference.source.reference);
    const songId = keepsNothing ? null : (own ?? (await this.uploaded(jobId, reference.source, signal)));
    const seed = options["seed"] === undefined ? {} : { seed: options["seed"] };
    const body = { composition_plan: joinedPlan(chunks, cut, songId), model_id: model.upstream, ...seed, ...stored };
    try {
      const response = await this.client.composeFromTrack(body, signal);
      this.uploads.done(jobId);
      return response;
    } catch (error) {
      throw this.uploads.of(jobId) === null ? error : afterUpload(error);
    }
  }

  private async chunksOf(request: MusicRequest, partMs: number, signal: AbortSignal): Promise<JsonObject[]> {
    const response = await this.client.plan(planBody(request, partMs), signal);
    const chunks = fittedChunks(response.json(), partMs);
    if (chunks === null) throw providerFailure("unavailable", response, { message: "The response has no known plan." });
    if (request.instrumental) return chunks.map(withoutWords).map(voiceless);
    const lyrics = request.lyrics?.trim() ?? "";
    const plan = lyrics === "" ? null : withLyrics({ chunks }, lyrics);
    return plan === null ? chunks : (plan["chunks"] as JsonObject[]);
  }

  private async uploaded(jobId: string, source: SourceAudio, signal: AbortSignal): Promise<string> {
    const songId = this.uploads.of(jobId) ?? (await this.client.upload(source, signal));
    this.uploads.add(jobId, songId);
    return songId;
  }

  /**
   * The caller's lyrics replace the words of a plan that ElevenLabs derives from the prompt: this is the reliable way
   * to have them sung. ElevenLabs accepts a seed only with a plan, which has no switch for instrumental music.
   */
  private async plannedBody(request: MusicRequest, lyrics: string, signal: AbortSignal): Promise<JsonObject> {
    const { seed } = request.options;
    if (seed !== undefined && request.instrumental)
      throw new ProviderFailure("invalid_input", "ElevenLabs takes no seed for instrumental music.", {
        billable: "no",
      });
    const response = await this.client.plan(planBody(request), signal);
    const plan = lyrics === "" ? planIn(response.json()) : withLyrics(response.json(), lyrics);
    // Nothing has been created yet.
    if (plan === null)
      throw providerFailure("unavailable", response, { message: "The response has no plan that is known." });
    return { composition_plan: plan, model_id: request.model.upstream, ...(seed === undefined ? {} : { seed }) };
  }

  private async separate(request: SplitRequest, signal: AbortSignal): Promise<Completed> {
    const response = await this.client.separate(await splitForm(request), signal);
    const stems = await stemsIn(response.bytes, request.operation);
    if (stems === null)
      throw providerFailure("outcome_unknown", response, { message: "The response has no archive of stems." });
    const labels = stems.map(({ label }) => label);
    const missing =
      request.operation === "vocal_removal"
        ? ["instrumental", "vocals"].filter((label) => !labels.includes(label))
        : [];
    if (missing.length > 0) {
      const message = `The response has ${labels.join(", ")}: there is no ${missing.join(" and no ")}.`;
      throw new ProviderFailure("failed", message, { billable: "yes" });
    }
    return { state: "completed", tracks: [], stems };
  }
}
