import { createHmac, timingSafeEqual } from "node:crypto";
import {
  apiKey,
  baseUrl,
  defineProvider,
  defineSettings,
  handleCodec,
  isLostReply,
  type ProviderApi,
  ProviderFailure,
  providerFailure,
  PROVIDER_PORT_VERSION,
  STANDARD_OPTIONS,
  timeoutMs,
} from "../../plugins/sdk/index.js";
import type {
  Accepted,
  ApiResponse,
  CallContext,
  CancelOutcome,
  Completed,
  LookupOutcome,
  MusicProvider,
  MusicReference,
  MusicRequest,
  ParsedCallback,
  ProbeResult,
  ProviderAsset,
  ProviderHandle,
  ProviderHost,
  ReceivedCallback,
  Snapshot,
  SourceAudio,
  SplitRequest,
  SubmitRequest,
} from "../../plugins/sdk/index.js";
import type { ProviderHost as PortHost } from "../../core/ports/music-provider.js";
import { toProviderHost } from "../../plugins/sdk/host.js";

interface Task {
  readonly id: string;
  readonly kind: "music" | "split";
  readonly status: string;
  readonly files?: readonly { readonly name: string; readonly url: string }[];
  readonly price?: number;
  readonly code?: string;
}

const SETTINGS = defineSettings({
  apiKey: apiKey("Key from the provider's console"),
  webhookSecret: { type: "string", required: true, secret: true, description: "Signs what it sends" },
  baseUrl: baseUrl("https://api.nightingale.example"),
  timeoutMs: timeoutMs(30_000),
});

const HANDLES = handleCodec(1, ({ id }) => (typeof id === "string" ? { id } : null));

/** A provider with every power of the port, for the suite's own tests: it exists nowhere else. */
export const nightingale = defineProvider({
  id: "nightingale",
  label: "Nightingale",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  settings: SETTINGS,
  models: [
    {
      id: "nightingale/v2",
      name: "Nightingale v2",
      creditCost: 10,
      supportsLyrics: true,
      supportsInstrumental: true,
      duration: { minSeconds: 10, maxSeconds: 120, defaultSeconds: 45 },
      upstream: "gale-2",
      requestOptions: {
        seed: STANDARD_OPTIONS.seed,
        key: STANDARD_OPTIONS.key,
        vocal_gender: STANDARD_OPTIONS.vocal_gender,
        loop: { type: "boolean", description: "Whether the end leads to the beginning." },
      },
      references: {
        extend: { sources: "own", takesStrength: true },
        cover: { sources: "any", contentTypes: ["audio/wav"], maxSeconds: 12, takesStrength: true },
        inpaint: { sources: "any", needsUrl: true },
      },
    },
  ],
  capabilities: {
    idempotentSubmit: true,
    lookup: true,
    cancel: true,
    callbacks: "signed",
    stemSplit: { sources: "any", contentTypes: ["audio/mpeg", "audio/wav"] },
    vocalRemoval: { sources: "any", needsUrl: true },
  },
  create: (host) => new NightingaleProvider(host),
});

const TOLERANCE_MS = 300_000;

export class NightingaleProvider implements MusicProvider {
  protected readonly api: ProviderApi;

  protected readonly host: ProviderHost<typeof SETTINGS>;

  /** @param host the port's, of which tests replace members one by one */
  constructor(host: PortHost) {
    this.host = toProviderHost(host);
    this.api = this.host.api({ classify: refusalOf });
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed | Accepted> {
    const { operation, jobId, attemptId, callbackUrl } = request;
    const json = {
      ...(operation === "music" ? await inputsOf(request) : { mode: operation, audio: await audioOf(request) }),
      ref: attemptId,
      webhook: callbackUrl ?? undefined,
    };
    const path = operation === "music" ? (PATHS[request.reference?.mode ?? "none"] ?? "/v1/music") : "/v1/splits";
    const response = await this.api.call({ path, json, headers: { "idempotency-key": jobId }, creates: true, signal });
    const { id } = (response.json() ?? {}) as { readonly id?: unknown };
    if (typeof id !== "string")
      throw providerFailure("outcome_unknown", response, { message: "The response has no task." });
    return { state: "accepted", handle: HANDLES.write({ id }), nextPollMs: 5_000 };
  }

  async pollMany(
    handles: readonly ProviderHandle[],
    { signal }: CallContext,
  ): Promise<readonly (Snapshot | ProviderFailure)[]> {
    const ids = handles.map(idOf);
    const tasks = await this.tasks(`ids=${ids.join(",")}`, signal);
    return ids.map((id) => {
      const task = tasks.find((candidate) => candidate.id === id);
      return task === undefined ? new ProviderFailure("gone", `It knows no task ${id}.`) : snapshotOf(task);
    });
  }

  async lookup(attemptId: string, { signal }: CallContext): Promise<LookupOutcome> {
    const [task] = await this.tasks(`ref=${attemptId}`, signal);
    return task === undefined
      ? { state: "absent" }
      : { state: "accepted", handle: HANDLES.write({ id: task.id }), nextPollMs: 0 };
  }

  async cancel(handle: ProviderHandle, { signal }: CallContext): Promise<CancelOutcome> {
    const response = await this.api.call({ method: "POST", path: `/v1/tasks/${idOf(handle)}/cancel`, signal });
    return (response.json() as { readonly stopped?: boolean } | undefined)?.stopped === true ? "cancelled" : "too_late";
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    const response = await this.api.call({ path: "/v1/account", signal });
    return {
      credit: { amount: (response.json() as { readonly credits: number }).credits, unit: "credits" },
      warnings: [],
    };
  }

  async parseCallback({ headers, body, receivedAt, handle }: ReceivedCallback): Promise<ParsedCallback> {
    const { "x-signature": signature = "", "x-timestamp": sentAt = "" } = headers;
    const expected = signatureOf(this.host.settings.webhookSecret, sentAt, body);
    if (signature.length !== expected.length || !timingSafeEqual(Buffer.from(signature), Buffer.from(expected)))
      return { trust: "forged", reason: "The signature does not hold." };
    if (Math.abs(receivedAt - Number(sentAt)) > TOLERANCE_MS) return { trust: "forged", reason: "It is too old." };
    const task = JSON.parse(Buffer.from(body).toString("utf8")) as Task;
    const snapshot = snapshotOf(task);
    if (!isLostReply(handle) || ProviderFailure.is(snapshot)) return { trust: "verified", snapshot };
    return { trust: "verified", snapshot: { ...snapshot, handle: HANDLES.write({ id: task.id }) } };
  }

  private async tasks(query: string, signal: AbortSignal): Promise<readonly Task[]> {
    const response = await this.api.call({ path: `/v1/tasks?${query}`, isStatusCall: true, signal });
    const { tasks } = (response.json() ?? {}) as { readonly tasks?: readonly Task[] };
    if (!Array.isArray(tasks))
      throw providerFailure("unavailable", response, { message: "The response has no tasks." });
    return tasks as readonly Task[];
  }
}

/** Where work from a track is created that has a path of its own. */
const PATHS: Readonly<Record<string, string>> = { extend: "/v1/extensions" };

/** The request in their words. */
async function inputsOf(request: MusicRequest): Promise<object> {
  const { model, prompt, lyrics, durationSeconds, options, reference } = request;
  const { seed, key, vocal_gender: voice, loop } = options;
  const seconds = durationSeconds ?? model.duration?.defaultSeconds;
  const inputs = { model: model.upstream, prompt, lyrics, seconds, seed, key, voice, loop };
  return reference === undefined ? inputs : { ...inputs, ...(await trackOf(reference)) };
}

/** Milliseconds and hundredths; the strength is how much is changed. */
async function trackOf({ mode, source, fromSeconds, toSeconds, strength }: MusicReference): Promise<object> {
  const points = {
    begin: fromSeconds === null ? undefined : fromSeconds * 1_000,
    end: toSeconds === null ? undefined : toSeconds * 1_000,
    change: strength === null ? undefined : Math.round((1 - strength) * 100),
  };
  if (mode === "cover") return { ...points, audio: await base64Of(source) };
  const track = mode === "extend" ? { task: source.reference?.["task"] } : { audio: source.url };
  if (typeof Object.values(track)[0] !== "string")
    throw new ProviderFailure("invalid_input", `It cannot be given this track for ${mode}.`, { billable: "no" });
  return { ...points, ...track };
}

export function signatureOf(secret: string, sentAt: string, body: Uint8Array): string {
  return createHmac("sha256", secret).update(`${sentAt}.`).update(body).digest("hex");
}

function idOf(handle: ProviderHandle): string {
  return HANDLES.read(handle).id;
}

function refusalOf(response: ApiResponse): ProviderFailure | undefined {
  const { code } = (response.json() ?? {}) as { readonly code?: string };
  if (code === "no_credit") return providerFailure("out_of_credit", response, { code });
  if (code === "blocked") return providerFailure("content_rejected", response, { code });
  return undefined;
}

async function audioOf({ source, operation }: SplitRequest): Promise<string> {
  if (operation === "vocal_removal") {
    if (source.url === null)
      throw new ProviderFailure("invalid_input", "It fetches tracks by URL, and this one has none.", {
        billable: "no",
      });
    return source.url;
  }
  return base64Of(source);
}

async function base64Of(source: SourceAudio): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of source.open()) parts.push(part);
  return Buffer.concat(parts).toString("base64");
}

function snapshotOf({ id, kind, status, files = [], price, code }: Task): Snapshot | ProviderFailure {
  const cost = price === undefined ? {} : { cost: { amount: price, unit: "credits" } };
  const assets = files.map(({ name, url }): ProviderAsset => ({
    role: kind === "music" ? "mix" : "stem",
    label: kind === "music" ? "full" : name,
    contentType: "audio/mpeg",
    durationSeconds: null,
    source: { kind: "url", url },
  }));
  switch (status) {
    case "queued":
    case "working":
      return { state: "running", nextPollMs: 5_000 };
    case "done":
      if (assets.length === 0) return new ProviderFailure("failed", `Task ${id} is done and has no files.`);
      if (kind === "split") return { state: "completed", tracks: [], stems: assets, ...cost };
      return {
        state: "completed",
        tracks: assets.map((asset) => ({
          title: null,
          bpm: null,
          tags: { mood: [], activity: [], genre: [], other: [] },
          assets: [asset],
          reference: { task: id },
        })),
        ...cost,
      };
    case "canceled":
    case "cancelled":
      return new ProviderFailure("cancelled", `Task ${id} was cancelled.`);
    default:
      return failureIn(id, status, code);
  }
}

function failureIn(id: string, status: string, code: string | undefined): ProviderFailure {
  const kind = code === "blocked" ? "content_rejected" : "failed";
  return new ProviderFailure(kind, `Task ${id}: ${status} ${code ?? ""}`, { providerCode: code ?? status });
}
