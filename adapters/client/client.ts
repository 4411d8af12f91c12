import createFetchClient from "openapi-fetch";
import { FermataError, toError } from "./errors.js";
import { Follower, type WaitOptions } from "./follow.js";
import { newIdempotencyKey } from "./key.js";
import { type ListPaths, pagesOf } from "./pages.js";
import { createTransport } from "./transport.js";
import type { Call, CallOptions, DataOf, InitOf, Method, Schemas } from "./types.js";
import { sleep } from "./wait.js";

type Job = Schemas["Job"];

export interface ClientOptions {
  /** Of the server, with the path that it is mounted at, if any: `https://music.example.com`. */
  readonly baseUrl: string;
  /** Left out where a cookie or the `fetch` authenticates. */
  readonly apiKey?: string;
  /** Default: that of the browser or of Node. */
  readonly fetch?: typeof globalThis.fetch;
  /** How often a request is sent again, where that is safe. Default 4; 0: never. */
  readonly retries?: number;
  /** No try begins later than this after the first one. Default 120,000 ms, so that a limit per minute passes. */
  readonly retryForMs?: number;
  /** After this long without a whole response it counts as lost. Default 90,000 ms. */
  readonly timeoutMs?: number;
  /** How long to wait for the first byte of a job's stream before polling. Default 8,000 ms. */
  readonly silenceMs?: number;
  /** Between two polls of a job. Default 2,000 ms. */
  readonly pollMs?: number;
  /** Sent with every request, such as `{ "X-Client": "my-app" }` for the usage report. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CreateOptions extends WaitOptions {
  /** Default: a new one. That of an earlier call with the same input continues that call. */
  readonly idempotencyKey?: string;
  /** Called with the key before the first try, and awaited: what it stores survives a crash. */
  readonly onIdempotencyKey?: (key: string) => void | Promise<void>;
}

/** The public API, by one key. Calls return the `data` of the response and throw a {@link FermataError}. */
export interface Client {
  readonly GET: Call<"get">;
  readonly POST: Call<"post">;
  readonly PUT: Call<"put">;
  readonly PATCH: Call<"patch">;
  readonly DELETE: Call<"delete">;

  /** Creates a generation, and waits for it. @throws {FermataError} also where it fails: by the code of its error */
  generate(input: Schemas["GenerationRequest"], options?: CreateOptions): Promise<Schemas["Generation"]>;

  /** Splits a track into stems, and waits for them. @throws {FermataError} also where the split fails */
  split(trackId: string, input?: Schemas["SplitRequest"], options?: CreateOptions): Promise<Job>;

  /** Separates vocals and instruments of a track, and waits. @throws {FermataError} also where that fails */
  removeVocals(trackId: string, input?: Schemas["SplitRequest"], options?: CreateOptions): Promise<Job>;

  /** Waits for a job to end: by its events, or by polling. A failed job is returned as well. */
  wait(jobId: string, options?: WaitOptions): Promise<Job>;

  /**
   * The pages of a list, in its order, each read when it is asked for. `/api/v1/events` ends with what has happened by
   * then: go on later from the `next_cursor` of the last page, as `after`.
   */
  pages<Path extends ListPaths>(
    path: Path,
    init?: Partial<InitOf<Path, "get">>,
  ): AsyncGenerator<DataOf<Path, "get">, void, undefined>;
}

type AnyInit = CallOptions & { readonly params?: object; readonly body?: unknown };
type AnyCall = (path: string, init?: AnyInit) => Promise<object>;

export function createClient(options: ClientOptions): Client {
  const { baseUrl, apiKey, fetch = (...args) => globalThis.fetch(...args) } = options;
  const { retries = 4, retryForMs = 120_000, timeoutMs = 90_000, silenceMs = 8_000, pollMs = 2_000 } = options;
  const headers = { ...options.headers, ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }) };
  const transport = createTransport({ fetch, retries, retryForMs, timeoutMs, sleep });
  const api = createFetchClient({ baseUrl, headers, fetch: transport });
  /** The transport throws what is no success, so that there is data. */
  const call = (method: Uppercase<Method>): AnyCall => {
    const send = api[method] as unknown as (path: string, init?: AnyInit) => Promise<{ data?: { data: object } }>;
    return async (path, init) => (await send(path, init)).data?.data ?? {};
  };
  const [get, post] = [call("GET"), call("POST")];

  const wait: Client["wait"] = (jobId, given = {}) => {
    const params = { path: { job_id: jobId } };
    const path = `${baseUrl.replace(/\/$/, "")}/api/v1/jobs/${encodeURIComponent(jobId)}/events`;
    const deps = {
      openStream: (_: string, lastEventId: string | null, signal: AbortSignal) =>
        fetch(path, {
          headers: { ...headers, Accept: "text/event-stream", ...(lastEventId && { "Last-Event-ID": lastEventId }) },
          signal,
        }),
      getJob: (_: string, signal?: AbortSignal) =>
        get("/api/v1/jobs/{job_id}", { params, ...(signal && { signal }) }) as Promise<Job>,
      ...{ sleep, silenceMs, pollMs },
    };
    return new Follower(deps, jobId, given).end();
  };

  /** @throws {FermataError} with the key and, once it is known, the job */
  async function create(path: string, params: object, body: unknown, given: CreateOptions = {}): Promise<Job> {
    const { idempotencyKey: key = newIdempotencyKey(), onIdempotencyKey, signal } = given;
    await onIdempotencyKey?.(key);
    let jobId: string | null = null;
    try {
      const header = { "Idempotency-Key": key };
      const init = { params: { ...params, header }, ...(body !== undefined && { body }), ...(signal && { signal }) };
      const accepted = (await post(path, init)) as { readonly id?: string; readonly job_id?: string };
      jobId = accepted.job_id ?? accepted.id ?? "";
      const job = await wait(jobId, given);
      if (job.status === "failed" && job.error !== undefined) throw toError(job.error, { status: 200 });
      return job;
    } catch (error) {
      if (error instanceof FermataError) Object.assign(error, { idempotencyKey: key, jobId });
      throw error;
    }
  }

  const ofTrack = (name: string): Client["split"] => {
    return (id, input, given) => create(`/api/v1/tracks/{id}/${name}`, { path: { id } }, input, given);
  };

  return {
    GET: get as Client["GET"],
    POST: post as Client["POST"],
    PUT: call("PUT") as Client["PUT"],
    PATCH: call("PATCH") as Client["PATCH"],
    DELETE: call("DELETE") as Client["DELETE"],
    async generate(input, given) {
      const { job_id: id } = await create("/api/v1/generations", {}, input, given);
      const { signal } = given ?? {};
      const init = { params: { path: { id } }, ...(signal && { signal }) };
      return (await get("/api/v1/generations/{id}", init)) as Schemas["Generation"];
    },
    split: ofTrack("stems"),
    removeVocals: ofTrack("vocal-removal"),
    wait,
    pages: (path, init = {}) => pagesOf(get, path, init),
  };
}
