import type { KeyObject } from "node:crypto";
import {
  asObject,
  handleCodec,
  inputsOf,
  inputTemplateOf,
  isLostReply,
  type ModelInputs,
  parseJson,
  ProviderFailure,
  providerFailure,
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
  ReceivedCallback,
  Snapshot,
  SplitRequest,
  SubmitRequest,
} from "../sdk/index.js";
import { FalClient } from "./client.js";
import { ERROR_CODE, failureOfStatus } from "./errors.js";
import { completedOf, probeOf, readAccepted, readStatus, reportIn, urlsOf, type Work, workIn } from "./map.js";
import { type Host, type Separator, separatorOf } from "./settings.js";
import { forgeryIn, keysIn } from "./webhook.js";

const HANDLES = handleCodec(1, workIn);

/** At most a day, says fal. */
const KEYS_KEPT_MS = 3_600_000;

const BALANCE_HIDDEN: ProbeResult = {
  credit: null,
  warnings: [
    "The balance is not shown to this key: that takes one with the scope ADMIN. To make music the scope API will do.",
  ],
};

/** Requests of the queue: made with one call, then polled, or reported by a signed webhook. */
export class FalProvider implements MusicProvider {
  private readonly separator: Separator;
  private readonly client: FalClient;
  private keys: { readonly list: readonly KeyObject[]; readonly readAt: number } | null = null;

  constructor(private readonly host: Host) {
    this.separator = separatorOf(host.settings);
    this.client = new FalClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    const submission = request.operation === "music" ? generationOf(request) : this.splitOf(request);
    const { endpoint, operation, input, output } = submission;
    const answer = await this.client.submit(endpoint, input, request.callbackUrl, signal);
    const accepted = readAccepted(answer);
    if (accepted === null) throw providerFailure("outcome_unknown", answer, { message: "It answered no request." });
    const handle = HANDLES.write({ ...accepted, operation, output });
    return { state: "accepted", handle, nextPollMs: this.host.settings.pollMs };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const work = HANDLES.read(handle);
    const status = readStatus(await this.client.status(work.statusUrl, signal));
    if (status.state === "running") return { state: "running", nextPollMs: this.host.settings.pollMs };
    const known = status.state === "failed" ? failureOfStatus(status.error, status.errorType) : null;
    if (known !== null) throw known;
    // The result of work that failed is its error, and is thrown.
    const answer = await this.client.result(work.responseUrl, status.state === "failed", signal);
    if (status.state === "failed")
      throw new ProviderFailure("failed", status.error.slice(0, 300), { providerCode: status.errorType ?? ERROR_CODE });
    const output = answer.json();
    if (output === undefined) throw providerFailure("unavailable", answer, { message: "The result is no JSON." });
    const completed = completedOf(output, work);
    if (ProviderFailure.is(completed)) throw completed;
    return completed;
  }

  async cancel(handle: ProviderHandle, { signal }: CallContext): Promise<CancelOutcome> {
    try {
      const answer = (await this.client.cancel(HANDLES.read(handle).cancelUrl, signal)).text();
      if (/\bALREADY_COMPLETED\b|\bNOT_FOUND\b/.test(answer)) return "too_late";
      // `OK`: it was still in the queue. What runs is asked to stop, and may not.
      return /\bOK\b/.test(answer) ? "cancelled" : "requested";
    } catch (error) {
      // 400, 404, 409: it is done, or not there.
      if (ProviderFailure.is(error) && (error.kind === "gone" || error.kind === "invalid_input")) return "too_late";
      throw error;
    }
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    const answer = await this.client.billing(signal);
    return answer.status === 403 ? BALANCE_HIDDEN : probeOf(answer.json());
  }

  async parseCallback(callback: ReceivedCallback, { signal }: CallContext): Promise<ParsedCallback> {
    const keys = await this.webhookKeys(signal);
    // Without the keys nothing can be said of the signature; the work is polled.
    if (keys.length === 0) return { trust: "hint" };
    const reason = forgeryIn(callback, keys);
    if (reason !== null) return { trust: "forged", reason };
    const body = parseJson(callback.body);
    if (isLostReply(callback.handle)) return this.reportOfLost(body, callback);
    const snapshot = reportIn(body, HANDLES.read(callback.handle));
    return snapshot === null ? { trust: "hint" } : { trust: "verified", snapshot };
  }

  /** Of a submission whose reply was lost: what the webhook leaves open is asked for with the handle that it brings. */
  private reportOfLost(body: unknown, { request }: ReceivedCallback): ParsedCallback {
    const { request_id: requestId } = asObject(body);
    const model = this.host.models.find(({ id }) => id === request?.modelId);
    const endpoint = request?.operation === "music" ? model?.upstream : this.separator?.endpoint;
    const operation = request?.operation;
    if (typeof requestId !== "string" || requestId === "" || endpoint === undefined) return { trust: "hint" };
    if (operation !== "music" && operation !== "stem_split") return { trust: "hint" };
    const output = model === undefined ? "" : (inputTemplateOf(model).output ?? "");
    const work: Work = { ...urlsOf(this.host.settings.baseUrl, endpoint, requestId), operation, output };
    const handle = HANDLES.write(work);
    const snapshot = reportIn(body, work) ?? { state: "running", nextPollMs: this.host.settings.pollMs };
    return { trust: "verified", snapshot: ProviderFailure.is(snapshot) ? snapshot : { ...snapshot, handle } };
  }

  private async webhookKeys(signal: AbortSignal): Promise<readonly KeyObject[]> {
    const now = this.host.clock.now();
    if (this.keys !== null && now - this.keys.readAt < KEYS_KEPT_MS) return this.keys.list;
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
        separator === null ? "Splits are switched off (`splits`)." : "fal's separator answers no instrumental.";
      throw new ProviderFailure("invalid_input", message, { billable: "no" });
    }
    if (source.url === null)
      throw new ProviderFailure("invalid_input", "fal fetches tracks by URL, and this one has none.", {
        billable: "no",
      });
    const input = { ...separator.inputs, [separator.audioInput]: source.url };
    return { endpoint: separator.endpoint, operation, input, output: "" };
  }
}

/** What is submitted, and what a poll has to know of it. */
interface Submission extends Pick<Work, "operation" | "output"> {
  readonly endpoint: string;
  readonly input: ModelInputs;
}

function generationOf(request: MusicRequest): Submission {
  const { model, operation } = request;
  const input = inputsOf(request);
  return { endpoint: model.upstream ?? "", operation, input, output: inputTemplateOf(model).output ?? "" };
}
