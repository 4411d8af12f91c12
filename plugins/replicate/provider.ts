import {
  bearer,
  handleCodec,
  inputsWithTrack,
  inputTemplateOf,
  isLostReply,
  type ModelInputs,
  parseJson,
  ProviderFailure,
  providerFailure,
  templatesOf,
} from "../sdk/index.js";
import type {
  Accepted,
  ApiResponse,
  CallContext,
  CancelOutcome,
  MusicProvider,
  MusicRequest,
  ParsedCallback,
  ProbeResult,
  ProviderHandle,
  ReceivedCallback,
  Snapshot,
  SplitRequest,
  SubmitRequest,
  UrlSource,
} from "../sdk/index.js";
import { ReplicateClient } from "./client.js";
import { type Prediction, readPrediction, snapshotOf, type Work } from "./map.js";
import { type Host, type Separator, separatorOf } from "./settings.js";
import { forgeryIn } from "./webhook.js";

const HANDLES = handleCodec(1, ({ id, operation, output }) =>
  typeof id === "string" && isOperation(operation) && typeof output === "string" ? { id, operation, output } : null,
);

const SECRET_CACHE_MS = 3_600_000;

/** Predictions: created with one call, then polled, or reported by a signed webhook. */
export class ReplicateProvider implements MusicProvider {
  private readonly separator: Separator;
  private readonly client: ReplicateClient;
  private secret: { readonly value: string; readonly readAt: number } | null = null;

  constructor(private readonly host: Host) {
    this.separator = separatorOf(host.settings);
    this.client = new ReplicateClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    const { operation, callbackUrl } = request;
    const submission = operation === "music" ? await this.generationOf(request, signal) : this.splitOf(request);
    const { version, input, output } = submission;
    const response = await this.client.create(version, input, callbackUrl, signal);
    const prediction = readPrediction(response.json());
    if (prediction === null)
      throw providerFailure("outcome_unknown", response, { message: "The response has no prediction." });
    return {
      state: "accepted",
      handle: handleOf(prediction, operation, output),
      nextPollMs: this.host.settings.pollMs,
    };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { id, work } = this.workOf(handle);
    const snapshot = snapshotOf(predictionIn(await this.client.prediction(id, signal)), work);
    if (ProviderFailure.is(snapshot)) throw snapshot;
    return snapshot;
  }

  async cancel(handle: ProviderHandle, { signal }: CallContext): Promise<CancelOutcome> {
    try {
      const prediction = readPrediction((await this.client.cancel(this.workOf(handle).id, signal)).json());
      if (prediction === null) return "requested";
      if (["canceled", "aborted"].includes(prediction.status)) return "cancelled";
      return ["succeeded", "failed"].includes(prediction.status) ? "too_late" : "requested";
    } catch (error) {
      if (ProviderFailure.is(error) && (error.kind === "gone" || error.kind === "invalid_input")) return "too_late";
      throw error;
    }
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    await this.client.account(signal);
    return { credit: null, warnings: [] };
  }

  async parseCallback(callback: ReceivedCallback, { signal }: CallContext): Promise<ParsedCallback> {
    const secret = await this.webhookSecret(signal);
    // Without the key the plugin cannot check the signature; the host polls the work.
    if (secret === null) return { trust: "hint" };
    const reason = forgeryIn(callback, secret);
    if (reason !== null) return { trust: "forged", reason };
    const prediction = readPrediction(parseJson(callback.body));
    const isLost = isLostReply(callback.handle);
    const handle = isLost ? this.handleIn(prediction, callback) : callback.handle;
    if (prediction === null || handle === null) return { trust: "hint" };
    const { id, work } = this.workOf(handle);
    if (prediction.id !== id) return { trust: "hint" };
    const snapshot = snapshotOf(prediction, work);
    const isHandleNew = isLost && !ProviderFailure.is(snapshot);
    return { trust: "verified", snapshot: isHandleNew ? { ...snapshot, handle } : snapshot };
  }

  /** The handle that a lost reply would have left; null when it is unknown. */
  private handleIn(prediction: Prediction | null, { request }: ReceivedCallback): ProviderHandle | null {
    if (prediction === null || request === undefined) return null;
    const { operation, modelId } = request;
    if (operation !== "music") return handleOf(prediction, operation, "");
    const model = this.host.models.find(({ id }) => id === modelId);
    const [output, ...others] = model === undefined ? [] : new Set(templatesOf(model).map(({ output: path }) => path));
    // With several, it is unknown which mode the request used.
    return output === undefined || others.length > 0 ? null : handleOf(prediction, operation, output);
  }

  private async webhookSecret(signal: AbortSignal): Promise<string | null> {
    const now = this.host.clock.now();
    if (this.secret !== null && now - this.secret.readAt < SECRET_CACHE_MS) return this.secret.value;
    try {
      const { key } = ((await this.client.webhookSecret(signal)).json() ?? {}) as { readonly key?: unknown };
      if (typeof key !== "string" || key === "") return null;
      this.secret = { value: key, readAt: now };
      return key;
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      this.host.logger.warn("The key of Replicate's webhooks could not be read", {
        kind: error.kind,
        error: error.message,
      });
      return null;
    }
  }

  private async generationOf(request: MusicRequest, signal: AbortSignal): Promise<Submission> {
    const { model, reference } = request;
    const { upstream = model.upstream ?? "", output = "" } = inputTemplateOf(model, reference?.mode);
    const input = await inputsWithTrack(request, (source) => source.url ?? this.client.upload(source, signal));
    return { version: upstream, input, output };
  }

  private splitOf({ operation, source }: SplitRequest): Submission {
    const { separator } = this;
    if (separator === null)
      throw new ProviderFailure("invalid_input", "Splits are switched off (`splits`).", { billable: "no" });
    if (source.url === null)
      throw new ProviderFailure("invalid_input", "Replicate fetches tracks by URL, and this one has none.", {
        billable: "no",
      });
    const vocals = operation === "vocal_removal" ? { [separator.vocalsInput]: "vocals" } : {};
    const input = { ...separator.inputs, [separator.audioInput]: source.url, ...vocals };
    return { version: separator.version, input, output: "" };
  }

  private workOf(handle: ProviderHandle): { readonly id: string; readonly work: Work } {
    const { id, operation, output } = HANDLES.read(handle);
    const headersFor = (url: URL): UrlSource["headers"] => this.headersFor(url);
    return { id, work: { operation, output, pollMs: this.host.settings.pollMs, headersFor } };
  }

  /** Replicate's file hosts require the token; a model may name any other host, which must not get it. */
  private headersFor({ protocol, origin, hostname }: URL): UrlSource["headers"] {
    const isTheirs =
      protocol === "https:" && (hostname === "replicate.delivery" || hostname.endsWith(".replicate.delivery"));
    const isApi = origin === new URL(this.host.settings.baseUrl).origin;
    return isTheirs || isApi ? bearer(this.host.settings.apiKey) : undefined;
  }
}

function handleOf({ id }: Prediction, operation: Work["operation"], output: string): ProviderHandle {
  return HANDLES.write({ id, operation, output });
}

interface Submission {
  readonly version: string;
  readonly input: ModelInputs;
  /** `options.output` of the model; empty for the output itself. */
  readonly output: string;
}

/** A response that says nothing about the work does not end it: it is polled again. */
function predictionIn(response: ApiResponse): Prediction {
  const prediction = readPrediction(response.json());
  if (prediction === null)
    throw providerFailure("unavailable", response, { message: "The response has no prediction." });
  return prediction;
}

function isOperation(value: unknown): value is Work["operation"] {
  return value === "music" || value === "stem_split" || value === "vocal_removal";
}
