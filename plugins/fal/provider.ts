import type { KeyObject } from "node:crypto";
import {
  asObject,
  dataUriOf,
  handleCodec,
  inputsWithTrack,
  inputTemplateOf,
  isLostReply,
  parseJson,
  ProviderFailure,
  providerFailure,
  templatesOf,
} from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  CancelOutcome,
  MusicProvider,
  MusicRequest,
  ParsedCallback,
  ProbeResult,
  ProviderHandle,
  ProviderModel,
  ReceivedCallback,
  Snapshot,
  SplitRequest,
  SubmitRequest,
} from "../sdk/index.js";
import { FalClient, type QueuedRequest } from "./client.js";
import { ERROR_CODE, failureOfStatus } from "./errors.js";
import { completedOf, probeOf, readAccepted, readStatus, reportIn, urlsOf, type Work, workIn } from "./map.js";
import { type Host, type Separator, separatorOf } from "./settings.js";
import { forgeryIn, keysIn } from "./webhook.js";

const HANDLES = handleCodec(1, workIn);

/** At most a day, according to fal. */
const KEYS_CACHE_MS = 3_600_000;

const BALANCE_HIDDEN: ProbeResult = {
  credit: null,
  warnings: [
    "The balance is not shown to this key: that takes one with the scope ADMIN. To make music the scope API will do.",
  ],
};

/** Requests of the queue: created with one call, then polled, or reported by a signed webhook. */
export class FalProvider implements MusicProvider {
  private readonly separator: Separator;
  private readonly client: FalClient;
  private keys: { readonly list: readonly KeyObject[]; readonly readAt: number } | null = null;

  constructor(private readonly host: Host) {
    this.separator = separatorOf(host.settings);
    this.client = new FalClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    const submission = request.operation === "music" ? await generationOf(request) : this.splitOf(request);
    const { operation, output } = submission;
    const response = await this.client.submit(submission, request.callbackUrl, signal);
    const accepted = readAccepted(response);
    if (accepted === null)
      throw providerFailure("outcome_unknown", response, { message: "The response has no request." });
    const handle = HANDLES.write({ ...accepted, operation, output });
    return { state: "accepted", handle, nextPollMs: this.host.settings.pollMs };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const work = HANDLES.read(handle);
    const status = readStatus(await this.client.status(work.statusUrl, signal));
    if (status.state === "running") return { ...status, nextPollMs: this.host.settings.pollMs };
    const known = status.state === "failed" ? failureOfStatus(status.error, status.errorType) : null;
    if (known !== null) throw known;
    // The result of work that failed is its error, and is thrown.
    const response = await this.client.result(work.responseUrl, status.state === "failed", signal);
    if (status.state === "failed")
      throw new ProviderFailure("failed", status.error.slice(0, 300), { providerCode: status.errorType ?? ERROR_CODE });
    const output = response.json();
    if (output === undefined) throw providerFailure("unavailable", response, { message: "The result is not JSON." });
    const completed = completedOf(output, work);
    if (ProviderFailure.is(completed)) throw completed;
    return completed;
  }

  async cancel(handle: ProviderHandle, { signal }: CallContext): Promise<CancelOutcome> {
    try {
      const response = (await this.client.cancel(HANDLES.read(handle).cancelUrl, signal)).text();
      if (/\bALREADY_COMPLETED\b|\bNOT_FOUND\b/.test(response)) return "too_late";
      // `OK`: the request was still in the queue. fal asks running work to stop, which may not succeed.
      return /\bOK\b/.test(response) ? "cancelled" : "requested";
    } catch (error) {
      // 400, 404, 409: the request is done, or does not exist.
      if (ProviderFailure.is(error) && (error.kind === "gone" || error.kind === "invalid_input")) return "too_late";
      throw error;
    }
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    const response = await this.client.billing(signal);
    return response.status === 403 ? BALANCE_HIDDEN : probeOf(response.json());
  }

  async parseCallback(callback: ReceivedCallback, { signal }: CallContext): Promise<ParsedCallback> {
    const keys = await this.webhookKeys(signal);
    // Without the keys the plugin cannot check the signature; the host polls the work.
    if (keys.length === 0) return { trust: "hint" };
    const reason = forgeryIn(callback, keys);
    if (reason !== null) return { trust: "forged", reason };
    const body = parseJson(callback.body);
    if (isLostReply(callback.handle)) return this.reportOfLost(body, callback);
    const snapshot = reportIn(body, HANDLES.read(callback.handle));
    return snapshot === null ? { trust: "hint" } : { trust: "verified", snapshot };
  }

  /**
   * For a submission whose reply was lost: the host polls what the webhook does not contain, with the returned handle.
   */
  private reportOfLost(body: unknown, { request }: ReceivedCallback): ParsedCallback {
    const { request_id: requestId } = asObject(body);
    const operation = request?.operation;
    if (typeof requestId !== "string" || requestId === "") return { trust: "hint" };
    if (operation !== "music" && operation !== "stem_split") return { trust: "hint" };
    const at = operation === "music" ? this.generationAt(requestId, request?.modelId) : this.splitAt(requestId);
    if (at === null) return { trust: "hint" };
    const work: Work = { ...at, operation };
    const handle = HANDLES.write(work);
    const snapshot = reportIn(body, work) ?? { state: "running", nextPollMs: this.host.settings.pollMs };
    return { trust: "verified", snapshot: ProviderFailure.is(snapshot) ? snapshot : { ...snapshot, handle } };
  }

  private generationAt(requestId: string, modelId: string | null | undefined): Omit<Work, "operation"> | null {
    const model = this.host.models.find(({ id }) => id === modelId);
    return model === undefined ? null : workOf(this.host.settings.baseUrl, model, requestId);
  }

  private splitAt(requestId: string): Omit<Work, "operation"> | null {
    const { separator } = this;
    if (separator === null) return null;
    return { ...urlsOf(this.host.settings.baseUrl, separator.endpoint, requestId), output: "" };
  }

  private async webhookKeys(signal: AbortSignal): Promise<readonly KeyObject[]> {
    const now = this.host.clock.now();
    if (this.keys !== null && now - this.keys.readAt < KEYS_CACHE_MS) return this.keys.list;
    try {
      const list = keysIn((await this.client.webhookKeys(signal)).json());
      if (list.length > 0) this.keys = { list, readAt: now };
      return list;
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      this.host.logger.warn("The keys of fal's webhooks could not be read", { kind: error.kind, error: error.message });
      return [];
    }
  }

  private splitOf({ operation, source }: SplitRequest): Submission {
    const { separator } = this;
    if (operation !== "stem_split" || separator === null) {
      const message =
        separator === null ? "Splits are switched off (`splits`)." : "fal's separator returns no instrumental.";
      throw new ProviderFailure("invalid_input", message, { billable: "no" });
    }
    if (source.url === null)
      throw new ProviderFailure("invalid_input", "fal fetches tracks by URL, and this one has none.", {
        billable: "no",
      });
    const input = { ...separator.inputs, [separator.audioInput]: source.url };
    return { endpoint: separator.endpoint, operation, input, output: "", isInline: false };
  }
}

/** A submission, and what a poll needs to know of it. */
type Submission = QueuedRequest & Pick<Work, "operation" | "output">;

async function generationOf(request: MusicRequest): Promise<Submission> {
  const { model, operation, reference } = request;
  const { upstream = model.upstream ?? "", output = "" } = inputTemplateOf(model, reference?.mode);
  const input = await inputsWithTrack(request, (source) => source.url ?? dataUriOf(source));
  return { endpoint: upstream, operation, input, output, isInline: reference?.source.url === null };
}

/** The endpoint at which a request to the model can be polled; null where its modes have several. */
function workOf(baseUrl: string, model: ProviderModel, requestId: string): Omit<Work, "operation"> | null {
  const [own, ...modes] = templatesOf(model).map(({ upstream, output }) => ({
    ...urlsOf(baseUrl, upstream, requestId),
    output,
  }));
  const isOne = modes.every(({ statusUrl, output }) => statusUrl === own?.statusUrl && output === own.output);
  return own !== undefined && isOne ? own : null;
}
