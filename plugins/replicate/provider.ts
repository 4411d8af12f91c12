import { ProviderFailure, providerFailure } from "../../core/ports/music-provider.js";
import type {
  Accepted,
  ApiAnswer,
  CallContext,
  CancelOutcome,
  MusicProvider,
  ParsedCallback,
  ProbeResult,
  ProviderHandle,
  ProviderHost,
  ReceivedCallback,
  Snapshot,
  SplitRequest,
  SubmitRequest,
  UrlSource,
} from "../../core/ports/music-provider.js";
import { ReplicateClient } from "./client.js";
import { type Prediction, readPrediction, snapshotOf, type Work } from "./map.js";
import { type Inputs, inputOf, optionsOf } from "./options.js";
import { type Config, readSettings } from "./settings.js";
import { forgeryIn } from "./webhook.js";

const HANDLE_VERSION = 1;
/** Of the handle that stands for a lost reply. */
const NO_REPLY = 0;
const SECRET_KEPT_MS = 3_600_000;

/** Predictions: made with one call, then polled, or reported by a signed webhook. */
export class ReplicateProvider implements MusicProvider {
  private readonly config: Config;
  private readonly client: ReplicateClient;
  private secret: { readonly value: string; readonly readAt: number } | null = null;

  constructor(private readonly host: ProviderHost) {
    this.config = readSettings(host.settings);
    this.client = new ReplicateClient(this.config, host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    const { operation, callbackUrl } = request;
    const { version, input, output } = operation === "music" ? generationOf(request) : this.splitOf(request);
    const answer = await this.client.create(version, input, callbackUrl, signal);
    const prediction = readPrediction(answer.json());
    if (prediction === null) throw providerFailure("outcome_unknown", answer, { message: "It answered no prediction." });
    return { state: "accepted", handle: handleOf(prediction, operation, output), nextPollMs: this.config.pollMs };
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
    // Without the key nothing can be said of the signature; the work is polled.
    if (secret === null) return { trust: "hint" };
    const reason = forgeryIn(callback, secret);
    if (reason !== null) return { trust: "forged", reason };
    const prediction = readPrediction(parsed(callback.body));
    const isLost = callback.handle.version === NO_REPLY;
    const handle = isLost ? this.handleIn(prediction, callback) : callback.handle;
    if (prediction === null || handle === null) return { trust: "hint" };
    const { id, work } = this.workOf(handle);
    if (prediction.id !== id) return { trust: "hint" };
    const snapshot = snapshotOf(prediction, work);
    return { trust: "verified", snapshot: isLost && !ProviderFailure.is(snapshot) ? { ...snapshot, handle } : snapshot };
  }

  /** The handle that a lost reply would have left; null when it cannot be told. */
  private handleIn(prediction: Prediction | null, { request }: ReceivedCallback): ProviderHandle | null {
    if (prediction === null || request === undefined) return null;
    const { operation, modelId } = request;
    if (operation !== "music") return handleOf(prediction, operation, "");
    const model = this.host.models.find(({ id }) => id === modelId);
    return model === undefined ? null : handleOf(prediction, operation, optionsOf(model).output ?? "");
  }

  private async webhookSecret(signal: AbortSignal): Promise<string | null> {
    const now = this.host.clock.now();
    if (this.secret !== null && now - this.secret.readAt < SECRET_KEPT_MS) return this.secret.value;
    try {
      const { key } = ((await this.client.webhookSecret(signal)).json() ?? {}) as { readonly key?: unknown };
      if (typeof key !== "string" || key === "") return null;
      this.secret = { value: key, readAt: now };
      return key;
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      this.host.logger.warn("The key of Replicate's webhooks could not be read", { kind: error.kind, error: error.message });
      return null;
    }
  }

  private splitOf({ operation, source }: SplitRequest): { readonly version: string; readonly input: Inputs; readonly output: string } {
    const { split } = this.config;
    if (split === null) throw new ProviderFailure("invalid_input", "Splits are switched off (`splits`).", { billable: "no" });
    if (source.url === null)
      throw new ProviderFailure("invalid_input", "Replicate fetches tracks by URL, and this one has none.", { billable: "no" });
    const vocals = operation === "vocal_removal" ? { [split.vocalsInput]: "vocals" } : {};
    return { version: split.version, input: { ...split.inputs, [split.audioInput]: source.url, ...vocals }, output: "" };
  }

  private workOf({ version, data: { id, operation, output } }: ProviderHandle): { readonly id: string; readonly work: Work } {
    if (version !== HANDLE_VERSION || typeof id !== "string") throw new ProviderFailure("failed", "The handle is none of this plugin's.");
    const headersFor = (url: URL): UrlSource["headers"] => this.headersFor(url);
    return { id, work: { operation: operation as Work["operation"], output: String(output), pollMs: this.config.pollMs, headersFor } };
  }

  /** Their file hosts want the token; a model may name any other host, and that must not get it. */
  private headersFor({ protocol, origin, hostname }: URL): UrlSource["headers"] {
    const isTheirs = protocol === "https:" && (hostname === "replicate.delivery" || hostname.endsWith(".replicate.delivery"));
    const isApi = origin === new URL(this.config.baseUrl).origin;
    return isTheirs || isApi ? { authorization: `Bearer ${this.config.apiKey}` } : undefined;
  }
}

function handleOf({ id }: Prediction, operation: Work["operation"], output: string): ProviderHandle {
  return { version: HANDLE_VERSION, data: { id, operation, output } };
}

function generationOf(request: SubmitRequest & { readonly operation: "music" }): {
  readonly version: string;
  readonly input: Inputs;
  readonly output: string;
} {
  const { model } = request;
  return { version: model.upstream ?? "", input: inputOf(request), output: optionsOf(model).output ?? "" };
}

/** What says nothing of the work does not say that it failed: it is asked again. */
function predictionIn(answer: ApiAnswer): Prediction {
  const prediction = readPrediction(answer.json());
  if (prediction === null) throw providerFailure("unavailable", answer, { message: "It answered no prediction." });
  return prediction;
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8")) as unknown;
  } catch {
    return null;
  }
}
