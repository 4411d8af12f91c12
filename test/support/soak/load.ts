import { setTimeout as sleep } from "node:timers/promises";
import { type ApiResponse, ApiClient, dataOf } from "../api-client.js";
import type { SeededRandom } from "../chaos/seeded-random.js";
import { HTTP_MODEL, REPLICATE_MODEL } from "../vendor/index.js";

export interface LoadDeps {
  readonly api: ApiClient;
  readonly random: SeededRandom;
  /** The pauses of a client between two requests. */
  readonly pauseMs: readonly [number, number];
}

interface KnownJob {
  readonly id: string;
  readonly key: string;
  readonly body: object;
}

/** The clients know so many of the newest jobs: with every job, they would grow themselves. */
const KNOWN_MAX = 200;
const PATHS = [
  "me",
  "credits",
  "usage",
  "models",
  "generations?limit=50",
  "logs",
  "library/search?q=rain",
  "playlists",
  "webhook-endpoints",
  "events",
] as const;
const STREAM_MAX_MS = 20_000;

/** A mixed load: all that clients do, most of all reads and creations. */
export class SoakLoad {
  /** How often each request was sent. */
  readonly counts: Record<string, number> = {};
  /** Responses that no client expects. */
  readonly unexpected: string[] = [];
  private readonly known: KnownJob[] = [];
  private created = 0;

  constructor(private readonly deps: LoadDeps) {}

  async run(clients: number, signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.runOne(signal)));
  }

  private async runOne(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.step();
      await sleep(this.deps.random.between(...this.deps.pauseMs));
    }
  }

  private async step(): Promise<void> {
    const { random } = this.deps;
    const chance = random.fraction();
    const job = random.pick(this.known);
    if (job === undefined || chance < 0.25) return this.create({});
    if (chance < 0.3) return this.create({ Prefer: "wait=5" });
    if (chance < 0.37) return this.replay(job);
    if (chance < 0.41) return this.cancel(job);
    if (chance < 0.46) return this.follow(job);
    if (chance < 0.56) return this.download(job);
    if (chance < 0.59) return this.split(job);
    if (chance < 0.62) return this.useWrongKey();
    if (chance < 0.8) return void (await this.get(`generations/${job.id}`));
    return void (await this.get(random.pick(PATHS) as string));
  }

  private async create(headers: Readonly<Record<string, string>>): Promise<void> {
    const { api, random } = this.deps;
    this.created += 1;
    const [key, model] = [`key-${this.created}`, random.pick([HTTP_MODEL, REPLICATE_MODEL]) as string];
    const body = { model_id: model, prompt: `song ${this.created} of rain` };
    const response = await api.generate(body, { "Idempotency-Key": key, ...headers });
    if (!this.expects("create", response, 202)) return;
    this.known.push({ id: dataOf<{ readonly id: string }>(response).id, key, body });
    if (this.known.length > KNOWN_MAX) this.known.shift();
  }

  /** An old key may be free again: then its request starts a new job. */
  private async replay({ key, body }: KnownJob): Promise<void> {
    this.expects("replay", await this.deps.api.generate(body, { "Idempotency-Key": key }), 202);
  }

  private async cancel({ id }: KnownJob): Promise<void> {
    this.expects("cancel", await this.deps.api.send("POST", `/api/v1/jobs/${id}/cancel`), 200);
  }

  /** Reads the events of a job until its end. */
  private async follow({ id }: KnownJob): Promise<void> {
    const signal = AbortSignal.timeout(STREAM_MAX_MS);
    const path = `/api/v1/jobs/${id}/events`;
    const response = await this.deps.api.send("GET", path, { signal }).catch(() => null);
    if (response !== null) return void this.expects("follow", response, 200);
    const { text } = await this.deps.api.get(`/api/v1/jobs/${id}`);
    this.unexpected.push(`follow: no end within ${STREAM_MAX_MS} ms, and the job is ${text}`);
  }

  private async download(job: KnownJob): Promise<void> {
    const [track] = (await this.tracksOf(job)) ?? [];
    if (track?.play_url === null || track === undefined) return;
    const { pathname, search } = new URL(track.play_url);
    this.expects("download", await this.deps.api.get(`${pathname}${search}`), 200);
  }

  private async split(job: KnownJob): Promise<void> {
    const [track] = (await this.tracksOf(job)) ?? [];
    if (track === undefined) return;
    const headers = { "Idempotency-Key": `split ${job.key} ${this.created}` };
    this.expects("split", await this.deps.api.send("POST", `/api/v1/tracks/${track.id}/stems`, { headers }), 202);
  }

  private async useWrongKey(): Promise<void> {
    this.expects("wrong key", await new ApiClient(this.deps.api.url, "fmt_wrong").get("/api/v1/me"), 401);
  }

  private async tracksOf({ id }: KnownJob): Promise<readonly SeenTrack[] | null> {
    const response = await this.get(`generations/${id}`);
    return response === null ? null : dataOf<{ readonly tracks: readonly SeenTrack[] }>(response).tracks;
  }

  private async get(path: string): Promise<ApiResponse | null> {
    const response = await this.deps.api.get(`/api/v1/${path}`);
    return this.expects(`get ${path.replace(/[/?].*/, "")}`, response, 200) ? response : null;
  }

  private expects(what: string, response: ApiResponse, status: number): boolean {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
    if (response.status === status) return true;
    if (response.status === 503 && response.headers.has("Retry-After")) {
      this.counts["put off"] = (this.counts["put off"] ?? 0) + 1;
      return false;
    }
    this.unexpected.push(`${what}: ${response.status} ${response.text}`);
    return false;
  }
}

interface SeenTrack {
  readonly id: string;
  readonly play_url: string | null;
}
