import { Agent, type buildConnector } from "undici";
import type { OpenOptions } from "../../core/ports/asset-opener.js";
import type { Clock } from "../../core/ports/clock.js";
import { ProviderFailure, type UrlSource } from "../../core/ports/music-provider.js";
import { type DownloadResponse, failure } from "./response.js";
import { tooLarge } from "./bytes.js";
import { unpacked } from "./content-encoding.js";
import { DOWNLOAD_LIMITS, type DownloadLimits } from "./limits.js";
import { followRedirects, whyAborted, wordsFor } from "./follow-redirects.js";
import { classify } from "./classify.js";

/**
 * Origins that the operator wrote into a provider's settings: its files there may be plain http and at private
 * addresses.
 */
export interface ConfiguredOrigins {
  has(providerId: string, url: URL): boolean;
  /** Opens connections to these alone. */
  readonly connect: buildConnector.connector;
}

export interface DownloadDeps {
  /** Opens connections to places that may be connected to, and to no others. */
  readonly connect: buildConnector.connector;
  readonly clock: Pick<Clock, "now" | "sleep">;
  /** Of this program, for `User-Agent`. */
  readonly version: string;
  readonly configured?: ConfiguredOrigins;
  /** Whether files may come by plain http from anywhere; false by default. */
  readonly allowHttp?: boolean;
  readonly limits?: Partial<DownloadLimits>;
}

/** How often one download may resume. */
const RESUMES_MAX = 5;

const CONNECTIONS_MAX = 16;

/** No connection is kept alive longer, even if the server allows it: its name may have moved to a blocked address. */
const KEPT_MAX_MS = 10_000;

/** Statuses of a range request when the file has changed. */
const NO_REST: ReadonlySet<number> = new Set([200, 412, 416]);

/** Asks for one file. @param rest headers that ask for a part of it */
type Ask = (rest: Readonly<Record<string, string>>) => Promise<DownloadResponse>;

/** What a download knows of the file. */
interface Known {
  /** null: the server did not say. */
  readonly length: number | null;
  /** Names these very bytes; null where a rest cannot be asked for. */
  readonly validator: string | null;
}

/** Files behind URLs, by guarded connections. */
export class Downloads {
  private readonly agent: Agent;
  private readonly configuredAgent: Agent | null;
  private readonly closing = new AbortController();
  private readonly limits: DownloadLimits;

  constructor(private readonly deps: DownloadDeps) {
    this.limits = { ...DOWNLOAD_LIMITS, ...deps.limits };
    this.agent = this.agentWith(deps.connect);
    // A separate agent: a provider whose settings do not name a private address never reuses a connection to it.
    this.configuredAgent = deps.configured === undefined ? null : this.agentWith(deps.configured.connect);
  }

  /** @throws {ProviderFailure} as {@link AssetOpener.open} */
  async open(source: UrlSource, options: OpenOptions): Promise<AsyncIterable<Uint8Array>> {
    const { maxBytes, signal, providerId = null } = options;
    const whole = AbortSignal.any([signal, this.closing.signal, AbortSignal.timeout(this.limits.totalMs)]);
    const ask: Ask = (rest) => this.ask(source, providerId, whole, rest);
    const response = await ask({});
    const known = knownOf(response);
    if ((known.length ?? 0) > maxBytes) {
      response.body.destroy();
      throw tooLarge(maxBytes);
    }
    return unpacked(this.bytesOf(ask, response, known, whole), response);
  }

  /** Aborts running downloads. */
  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all([this.agent.destroy(), this.configuredAgent?.destroy()]);
  }

  private agentWith(connect: buildConnector.connector): Agent {
    return new Agent({
      connect,
      connections: CONNECTIONS_MAX,
      keepAliveMaxTimeout: KEPT_MAX_MS,
      headersTimeout: this.limits.firstByteMs,
      bodyTimeout: this.limits.idleMs,
    });
  }

  private async ask(
    source: UrlSource,
    providerId: string | null,
    signal: AbortSignal,
    rest: Readonly<Record<string, string>>,
  ): Promise<DownloadResponse> {
    const { version, allowHttp = false, clock, configured } = this.deps;
    const isConfigured = (url: URL): boolean => providerId !== null && configured?.has(providerId, url) === true;
    const own = { accept: "*/*", "accept-encoding": "identity", "user-agent": `Fermata/${version}`, ...rest };
    const response = await followRedirects({
      url: source.url,
      headers: source.headers ?? {},
      own,
      allowsHttp: (url) => allowHttp || isConfigured(url),
      providerId,
      agentFor: (url) => (isConfigured(url) && this.configuredAgent !== null ? this.configuredAgent : this.agent),
      signal,
    });
    const linkIsOver = source.expiresAt !== undefined && source.expiresAt <= clock.now();
    // 200 or 416: `rest` decides.
    if (rest["range"] !== undefined && NO_REST.has(response.status)) return response;
    const refusal = await classify(response, rest["range"] === undefined ? 200 : 206, linkIsOver);
    if (refusal !== null) throw refusal;
    return response;
  }

  /** The bytes of a response; resumes after an interruption where the server supports ranges. */
  private async *bytesOf(
    ask: Ask,
    first: DownloadResponse,
    known: Known,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const { url } = first;
    let response: DownloadResponse | null = first;
    let at = 0;
    for (let resumes = 0; ; resumes++) {
      let problem: unknown = null;
      try {
        response ??= await this.rest(ask, at, known);
        if (response === null) break;
        for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
          at += chunk.byteLength;
          yield chunk;
        }
        if (known.length === null || at === known.length) return;
      } catch (error) {
        if (ProviderFailure.is(error) && error.kind !== "unavailable") throw error;
        problem = error;
      } finally {
        response?.body.destroy();
        response = null;
      }
      if (known.length !== null && at > known.length)
        throw failure("failed", url, `it has more than the ${known.length} bytes it was said to have`);
      if (signal.aborted) throw failure("unavailable", url, whyAborted(signal), { cause: problem });
      if (known.validator === null || resumes === RESUMES_MAX) throw interrupted(url, at, known, problem);
      await this.deps.clock.sleep(this.limits.resumeMs * (resumes + 1), signal);
    }
    // Not permanent: a download from the beginning can succeed.
    throw failure("unavailable", url, `it was interrupted after ${at} bytes, and the file has changed since`);
  }

  /** null when the response is not the rest of the same file. */
  private async rest(ask: Ask, at: number, { validator, length }: Known): Promise<DownloadResponse | null> {
    const response = await ask({ range: `bytes=${at}-`, "if-range": validator ?? "" });
    const [, start = "", total = ""] =
      /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get("content-range") ?? "") ?? [];
    const fits =
      response.status === 206 && start === String(at) && (length === null || total === "*" || Number(total) === length);
    if (fits) return response;
    response.body.destroy();
    return null;
  }
}

function knownOf({ headers }: DownloadResponse): Known {
  const length = headers.get("content-length");
  const etag = headers.get("etag");
  // If-Range takes no weak tag (RFC 9110, section 13.1.5).
  const validator = etag !== null && !etag.startsWith("W/") ? etag : headers.get("last-modified");
  const hasRanges = headers.get("accept-ranges")?.trim().toLowerCase() === "bytes";
  return {
    length: length === null || !/^\d+$/.test(length) ? null : Number(length),
    validator: hasRanges ? validator : null,
  };
}

function interrupted(url: URL, at: number, { length }: Known, problem: unknown): ProviderFailure {
  // The last request's own failure has the details, and how long to wait.
  if (ProviderFailure.is(problem)) return problem;
  const words = problem === null ? "" : `: ${wordsFor(problem)}`;
  return failure(
    "unavailable",
    url,
    `it was interrupted after ${at}${length === null ? "" : ` of ${length}`} bytes${words}`,
    {
      cause: problem ?? undefined,
    },
  );
}
