import { setTimeout as sleep } from "node:timers/promises";
import {
  type AcceptedJob,
  type CallerApi,
  CallerApiError,
  type CallerCredits,
  type CallerFound,
  type CallerJob,
  type CallerModel,
  type CallerSearch,
  type EventPage,
  type GenerationInput,
  type SplitKind,
  type WaitOptions,
} from "./caller-api.js";
import type { CallerServer } from "./caller-host.js";
import { readEventStream } from "./event-stream.js";
import { HttpCalls } from "./http-calls.js";

/** How long a job is waited for while the server does not respond at all. */
const GIVE_UP_MS = 120_000;
const POLL_MS = 2_000;

/** The API over HTTP. */
export class HttpCallerApi implements CallerApi {
  private readonly calls: HttpCalls;

  constructor(server: CallerServer, fetch: typeof globalThis.fetch) {
    this.calls = new HttpCalls(server, fetch);
  }

  profile(): Promise<{ readonly id: string; readonly account_tier: string }> {
    return this.calls.get("/me");
  }

  credits(): Promise<CallerCredits> {
    return this.calls.get("/credits");
  }

  async models(): Promise<readonly CallerModel[]> {
    return (await this.calls.get<{ models: CallerModel[] }>("/models")).models;
  }

  search(query: CallerSearch): Promise<CallerFound> {
    return this.calls.get(`/library/search${queryOf({ ...query })}`);
  }

  createGeneration(input: GenerationInput, key: string): Promise<AcceptedJob> {
    return this.calls.post("/generations", input, key);
  }

  async createSplit(trackId: string, kind: SplitKind, key: string): Promise<AcceptedJob> {
    const path = `/tracks/${encodeURIComponent(trackId)}/${kind === "stem_split" ? "stems" : "vocal-removal"}`;
    const { job_id: id, ...job } = await this.calls.post<Omit<AcceptedJob, "id"> & { job_id: string }>(path, {}, key);
    return { id, ...job };
  }

  job(id: string): Promise<CallerJob> {
    return this.calls.get(`/jobs/${encodeURIComponent(id)}`);
  }

  async wait(id: string, { onProgress, signal }: WaitOptions): Promise<CallerJob> {
    let lastEventId: string | undefined;
    let respondedAt = performance.now();
    for (;;) {
      try {
        const path = `/jobs/${encodeURIComponent(id)}/events`;
        const response = await this.calls.openStream(path, lastEventId, signal);
        if (response !== null) {
          for await (const event of readEventStream(response)) {
            respondedAt = performance.now();
            lastEventId = event.id ?? lastEventId;
            if (event.name === "outlook") onProgress(event.data as never);
            if (event.name === "completed" || event.name === "failed") return (event.data as { job: CallerJob }).job;
          }
        }
        // The stream has an end of its own, and some proxies let none through.
        const job = await this.job(id);
        if (job.status === "completed" || job.status === "failed") return job;
      } catch (error) {
        signal.throwIfAborted();
        const isLost = !(error instanceof CallerApiError) || error.status === null || error.status >= 500;
        if (!isLost || performance.now() - respondedAt > GIVE_UP_MS) throw error;
      }
      await sleep(POLL_MS, null, { signal });
    }
  }

  async cancel(id: string): Promise<CallerJob> {
    await this.calls.post(`/jobs/${encodeURIComponent(id)}/cancel`, {}, null);
    return this.job(id);
  }

  async events(query: { readonly after?: string; readonly limit: number }): Promise<EventPage> {
    return this.calls.get(`/events${queryOf({ ...query })}`);
  }
}

/** Of the members that are given. */
function queryOf(members: { readonly [name: string]: string | number | undefined }): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) given.append(name, String(value));
  return `?${given.toString()}`;
}
