import { asObject, ProviderFailure, providerFailure } from "../sdk/index.js";
import type {
  JsonObject,
  CallContext,
  Completed,
  MusicProvider,
  MusicRequest,
  ProbeResult,
  SplitRequest,
  SubmitRequest,
} from "../sdk/index.js";
import { ElevenLabsClient } from "./client.js";
import { planBody, probeResultOf, promptBody, splitForm, stemsIn, trackIn } from "./map.js";
import { withLyrics } from "./plan.js";
import type { Host } from "./settings.js";

/** One call that makes the music, or the stems, and answers them. */
export class ElevenLabsProvider implements MusicProvider {
  private readonly client: ElevenLabsClient;

  constructor(host: Host) {
    this.client = new ElevenLabsClient(host);
  }

  submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed> {
    return request.operation === "music" ? this.compose(request, signal) : this.separate(request, signal);
  }

  /** A key may be made for music alone: then it works, and what is left cannot be read. */
  async probe({ signal }: CallContext): Promise<ProbeResult> {
    try {
      return probeResultOf(asObject((await this.client.subscription(signal)).json()));
    } catch (error) {
      if (!ProviderFailure.is(error) || error.providerCode !== "missing_permissions") throw error;
      return { credit: null, warnings: ["The key lacks the permission user_read: its credits cannot be read."] };
    }
  }

  private async compose(request: MusicRequest, signal: AbortSignal): Promise<Completed> {
    const lyrics = request.lyrics?.trim() ?? "";
    const body = lyrics === "" ? promptBody(request) : await this.sungBody(request, lyrics, signal);
    const answer = await this.client.compose(body, signal);
    const track = trackIn(answer);
    if (track === null) throw providerFailure("outcome_unknown", answer, { message: "It answered no music." });
    return { state: "completed", tracks: [track] };
  }

  /** The caller's lyrics go into a plan that ElevenLabs makes of the prompt: the stable way to have them sung. */
  private async sungBody(request: MusicRequest, lyrics: string, signal: AbortSignal): Promise<JsonObject> {
    const answer = await this.client.plan(planBody(request), signal);
    const plan = withLyrics(answer.json(), lyrics);
    // Nothing was made yet.
    if (plan === null) throw providerFailure("unavailable", answer, { message: "It answered no plan that is known." });
    return { composition_plan: plan, model_id: request.model.upstream };
  }

  private async separate(request: SplitRequest, signal: AbortSignal): Promise<Completed> {
    const answer = await this.client.separate(await splitForm(request), signal);
    const stems = await stemsIn(answer.bytes, request.operation);
    if (stems === null)
      throw providerFailure("outcome_unknown", answer, { message: "It answered no archive of stems." });
    const labels = stems.map(({ label }) => label);
    const lacking =
      request.operation === "vocal_removal"
        ? ["instrumental", "vocals"].filter((label) => !labels.includes(label))
        : [];
    if (lacking.length > 0) {
      const message = `It answered ${labels.join(", ")}: there is no ${lacking.join(" and no ")}.`;
      throw new ProviderFailure("failed", message, { billable: "yes" });
    }
    return { state: "completed", tracks: [], stems };
  }
}
