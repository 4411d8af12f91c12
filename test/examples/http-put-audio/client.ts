import { ServiceUnavailableError } from "fermata-music";
import type { Watchdog } from "./watchdog.js";

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | ReadableStream<Uint8Array>;
}

/** Requests to one server, with a bearer token. */
export class FileServer {
  private readonly base: string;

  /** @throws {Error} the URL or the token cannot be used; the error shows neither */
  constructor(
    url: string,
    private readonly token: string,
  ) {
    const { origin, pathname, username, password, search, hash } = new URL(url);
    // The errors of fetch would show both.
    if (username + password + search + hash !== "") throw new Error("audio.url: allowed is http(s)://HOST/PATH alone");
    if (!/^[\x21-\x7e]+$/.test(token)) throw new Error("audio.options.token: allowed is visible ASCII");
    this.base = `${origin}${pathname.replace(/\/+$/, "")}/`;
  }

  /**
   * @param watchdog ends the request and the reading of its response; it is stopped when this returns
   * @returns a success, or 404 to anything but PUT; only to GET is the body still open
   * @throws {ServiceUnavailableError} its cause says why, with neither the URL nor the token
   */
  async send(watchdog: Watchdog, method: string, path: string, { headers, body }: Sent = {}): Promise<Response> {
    watchdog.start();
    try {
      const response = await fetch(`${this.base}${path}`, {
        method,
        // Compressed bytes would have another length.
        headers: { ...headers, Authorization: `Bearer ${this.token}`, "Accept-Encoding": "identity" },
        redirect: "error",
        signal: watchdog.signal,
        ...(body === undefined ? {} : { body, duplex: "half" }),
      });
      const isFine = response.ok || (response.status === 404 && method !== "PUT");
      if (method !== "GET" || !isFine) await response.body?.cancel();
      if (!isFine) throw new Error(`status ${response.status}`);
      return response;
    } catch (error) {
      throw unavailable(method, path, error);
    } finally {
      watchdog.stop();
    }
  }
}

export function unavailable(method: string, path: string, reason: unknown): ServiceUnavailableError {
  const { message, cause } = reason instanceof Error ? reason : new Error(String(reason));
  // fetch says why it failed in the cause alone.
  const text = cause instanceof Error ? `${message}: ${cause.message}` : message;
  const error = new Error(`The audio server did not serve ${method} ${path}: ${text}.`);
  return new ServiceUnavailableError(undefined, undefined, { cause: error });
}
