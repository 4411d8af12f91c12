import type { Dispatcher } from "undici";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import { type DownloadResponse, failure } from "./response.js";

const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** These say how the file comes, which is not the plugin's business. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "host",
  "if-range",
  "range",
  "transfer-encoding",
]);

export interface DownloadRequest {
  readonly url: string;
  /** Of the plugin, for this origin alone. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of ours, for every hop. */
  readonly own: Readonly<Record<string, string>>;
  /** Whether this URL may be plain http. */
  readonly allowsHttp: (url: URL) => boolean;
  /** What to ask the server of a URL by. */
  readonly agentFor: (url: URL) => Dispatcher;
  /** The provider of the file, whose setting allows more; null: none. */
  readonly providerId: string | null;
  readonly signal: AbortSignal;
}

/**
 * Asks for a file and goes along with redirects, each hop by the same guarded connections.
 *
 * @throws {ProviderFailure} there is no response, or it redirects to a blocked address
 */
export async function followRedirects({
  url,
  headers,
  own,
  allowsHttp,
  agentFor,
  providerId,
  signal,
}: DownloadRequest): Promise<DownloadResponse> {
  const allowed: Allowed = { allowsHttp, providerId };
  const start = addressOf(url, null, allowed);
  const given = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()));
  let at = start;
  let isAtHome = true;
  for (let hops = 0; ; hops++) {
    // Once another origin has had a say, it must not choose what the credentials are sent to.
    isAtHome &&= at.origin === start.origin;
    const sent = { ...(isAtHome ? Object.fromEntries(given) : {}), ...own };
    const response = await ask(agentFor(at), at, sent, allowed, signal);
    if (!REDIRECTS.has(response.status)) return response;
    response.body.destroy();
    const location = response.headers.get("location");
    if (location === null) throw failure("failed", at, `the server returned ${response.status} without a location`);
    if (hops === REDIRECTS_MAX) throw failure("failed", start, `there were more than ${REDIRECTS_MAX} redirects`);
    at = addressOf(location, at, allowed);
  }
}

type Allowed = Pick<DownloadRequest, "allowsHttp" | "providerId">;

/** Which settings allow what was refused: the provider's own for this origin, and one for all providers. */
function remedy(url: URL, { providerId }: Allowed, forAll: string): string {
  const own = providerId === null ? "" : `plugins.${providerId}.allowHosts with ${url.origin} in it, or `;
  return `; if it is meant to be fetched, ${own}${forAll} allows it`;
}

function addressOf(text: string, from: URL | null, allowed: Allowed): URL {
  const refuse = (words: string): never => {
    throw from === null
      ? new ProviderFailure("failed", `The file cannot be fetched: ${words}.`)
      : failure("failed", from, words);
  };
  if (!URL.canParse(text, from?.href)) return refuse("its address cannot be read");
  const url = new URL(text, from?.href);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return refuse(`it leads to ${url.protocol}, not to http or https`);
  if (url.protocol === "http:" && !allowed.allowsHttp(url)) {
    const way = from?.protocol === "https:" ? " from https" : "";
    return refuse(`it leads${way} to plain http, at ${url.host}${remedy(url, allowed, "webhooks.allowHttp")}`);
  }
  if (url.username !== "" || url.password !== "")
    return refuse(`it leads to an address with a user or a password, at ${url.host}`);
  return url;
}

async function ask(
  agent: Dispatcher,
  url: URL,
  headers: Readonly<Record<string, string>>,
  allowed: Allowed,
  signal: AbortSignal,
): Promise<DownloadResponse> {
  try {
    const {
      statusCode,
      headers: fields,
      body,
    } = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: "GET",
      headers: { ...headers },
      signal,
    });
    // The reader gets the error; an error after the body was abandoned has no reader.
    body.on("error", () => undefined);
    return { url, status: statusCode, headers: toHeaders(fields), body };
  } catch (cause) {
    const { failure: phase, message, name } = cause as Error & { readonly failure?: string };
    if (phase === "blocked_address") {
      const words = `${message}${remedy(url, allowed, "webhooks.allowHosts or webhooks.allowNetworks")}`;
      throw failure("failed", url, words, { cause });
    }
    if (name === "InvalidArgumentError")
      throw failure("failed", url, "a header of the plugin cannot be sent", { cause });
    throw failure(
      "unavailable",
      url,
      signal.aborted ? whyAborted(signal) : phase === undefined ? wordsFor(cause) : message,
      { cause },
    );
  }
}

export function whyAborted({ reason }: AbortSignal): string {
  return (reason as Error | undefined)?.name === "TimeoutError" ? "it timed out" : "it was aborted";
}

const WORDS: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_TIMEOUT: "no response arrived in time",
  UND_ERR_BODY_TIMEOUT: "it stood still for too long",
  UND_ERR_SOCKET: "the connection ended",
  UND_ERR_HEADERS_OVERFLOW: "its headers are too long",
  ECONNRESET: "the connection was reset",
};

/** What undici, Node and OpenSSL call it, in words. Their messages may hold what the other side wrote. */
export function wordsFor(error: unknown): string {
  const { code = "unknown", name = "" } = error as NodeJS.ErrnoException;
  return name === "HTTPParserError" ? "it is no HTTP/1.1" : (WORDS[code] ?? `the connection failed (${code})`);
}

function toHeaders(fields: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) for (const one of [value ?? []].flat()) headers.append(name, one);
  return headers;
}
