import {
  type AcceptedJob,
  type CallerApi,
  CallerApiError,
  type CallerCredits,
  type CallerFound,
  type CallerJob,
  type CallerModel,
  type CancelledJob,
  type EventPage,
} from "../adapters/cli/caller/caller-api.js";
import type { CallerServer } from "../adapters/cli/caller/caller-host.js";
import { CLIENT } from "../adapters/cli/caller/words.js";
import type * as ClientModule from "../adapters/client/index.js";

/** The bundle needs no library; those of its sources are development tools. */
const BUNDLE = new URL("../adapters/client/generated/client.js", import.meta.url);

/** A job goes on meanwhile, and is waited for again and again. */
const PATIENCE = { retries: 30, retryForMs: 120_000 };

interface Init {
  readonly params?: { readonly query?: object; readonly path?: object; readonly header?: object };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

type Send = <T>(path: string, init?: Init) => Promise<T>;

/** A server, through the typed client. Commands name members in their own types, also those that it may lack. */
export async function openCallerApi(server: CallerServer, fetch: typeof globalThis.fetch): Promise<CallerApi> {
  const client = (await import(BUNDLE.href)) as typeof ClientModule;
  const options = { baseUrl: server.url, apiKey: server.apiKey, fetch, headers: { "X-Client": CLIENT } };
  const [calls, waits] = [client.createClient(options), client.createClient({ ...options, ...PATIENCE })];
  const translated = <T>(call: Promise<T>): Promise<T> =>
    call.catch((error: unknown) => {
      throw error instanceof client.FermataError ? translate(error, server.url) : error;
    });
  const get: Send = (path, init) => translated((calls.GET as unknown as Send)(path, init));
  const post: Send = (path, init) => translated((calls.POST as unknown as Send)(path, init));
  const keyed = (key: string): Pick<Init, "params"> => ({ params: { header: { "Idempotency-Key": key } } });
  const job = (id: string): Promise<CallerJob> => get("/api/v1/jobs/{job_id}", { params: { path: { job_id: id } } });

  return {
    profile: () => get("/api/v1/me"),
    credits: () => get<CallerCredits>("/api/v1/credits"),
    models: async () => (await get<{ models: CallerModel[] }>("/api/v1/models")).models,
    search: (query) => get<CallerFound>("/api/v1/library/search", { params: { query } }),
    createGeneration: (body, key) => post<AcceptedJob>("/api/v1/generations", { ...keyed(key), body }),
    async createSplit(id, kind, key) {
      const path = `/api/v1/tracks/{id}/${kind === "stem_split" ? "stems" : "vocal-removal"}`;
      const init = { params: { ...keyed(key).params, path: { id } }, body: { client: CLIENT } };
      const { job_id, ...accepted } = await post<Omit<AcceptedJob, "id"> & { job_id: string }>(path, init);
      return { id: job_id, ...accepted };
    },
    job,
    wait: (id, { onProgress, signal }) => translated(waits.wait(id, { onProgress, signal })),
    cancel: (id) =>
      post<CancelledJob>("/api/v1/jobs/{job_id}/cancel", {
        params: { path: { job_id: id } },
        // It may be repeated, and with a key the client does so where the response is lost.
        headers: { "Idempotency-Key": client.newIdempotencyKey() },
      }),
    events: (query) => get<EventPage>("/api/v1/events", { params: { query } }),
  };
}

function translate(error: ClientModule.FermataError, url: string): CallerApiError {
  const { code, status, requestId, details, message, cause } = error;
  const given = Object.keys(details).length === 0 ? undefined : details;
  if (status === 0) {
    const reason = code === "network_error" ? `${url} did not respond: ${reasonOf(cause)}.` : message;
    return new CallerApiError(code, null, reason, given, { cause });
  }
  const request = requestId === null ? "" : ` (request ${requestId})`;
  const from = code === "http_error" ? `${url}: ` : "";
  return new CallerApiError(code, status, `${from}${message}${request}`, given, { cause });
}

/** What is behind the errors of fetch, such as a refused connection. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "no whole response came";
  if (error.cause !== undefined) return reasonOf(error.cause);
  const { code } = error as NodeJS.ErrnoException;
  return error.message === "" ? (code ?? "no whole response came") : error.message;
}
