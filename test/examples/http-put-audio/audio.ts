import {
  type AudioStore,
  AudioTooLargeError,
  defineAdapter,
  isAudioKey,
  type ListedAudio,
  type StoredAudio,
} from "fermata-music";
import { checkStore } from "./check.js";
import { FileServer, unavailable } from "./client.js";
import { Watchdog } from "./watchdog.js";

/** So many names at once when files under a prefix are deleted. */
const PAGE = 1_000;

/** Files on a server that takes PUT, GET, HEAD and DELETE and lists names; the README says what it has to promise. */
export class HttpPutAudioStore implements AudioStore {
  constructor(
    private readonly server: FileServer,
    private readonly timeoutMs: number,
  ) {}

  async put(key: string, source: Uint8Array | AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredAudio> {
    const path = pathOf(key);
    if (source instanceof Uint8Array) {
      if (source.byteLength > maxBytes) throw new AudioTooLargeError(maxBytes);
      await this.server.send(this.watchdog(), "PUT", path, { body: source });
    } else {
      await this.upload(path, source, maxBytes);
    }
    const stored = await this.stat(key);
    if (stored === null) throw new Error(`The audio ${key} was deleted while it was stored.`);
    return stored;
  }

  async stat(key: string): Promise<StoredAudio | null> {
    const { status, headers } = await this.server.send(this.watchdog(), "HEAD", pathOf(key));
    if (status === 404) return null;
    return {
      sizeBytes: Number(headers.get("content-length")),
      etag: (headers.get("etag") ?? "").replace(/^W\/|"/g, ""),
      modifiedAt: Date.parse(headers.get("last-modified") ?? ""),
    };
  }

  async *read(key: string, range?: { readonly start: number; readonly end: number }): AsyncGenerator<Uint8Array> {
    const headers: Record<string, string> = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
    const watchdog = this.watchdog();
    const { status, body } = await this.server.send(watchdog, "GET", pathOf(key), { headers });
    // 200 to a range is the whole file.
    if (status !== (range === undefined ? 200 : 206)) {
      await body?.cancel();
      throw status === 404 ? new Error(`There is no audio ${key}.`) : unavailable("GET", key, `status ${status}`);
    }
    try {
      watchdog.start();
      for await (const chunk of body ?? []) {
        watchdog.stop(); // a slow reader is not the server's fault
        yield chunk as Uint8Array;
        watchdog.start();
      }
    } catch (error) {
      throw unavailable("GET", key, error);
    } finally {
      watchdog.stop();
    }
  }

  async delete(key: string): Promise<void> {
    await this.server.send(this.watchdog(), "DELETE", pathOf(key));
  }

  async deleteAll(prefix: string): Promise<void> {
    const begin = `${pathOf(prefix)}/`;
    for (let after = begin; ;) {
      const listed = await this.list(after, PAGE);
      const found = listed.filter(({ key }) => key.startsWith(begin)); // all others come behind them
      for (const { key } of found) await this.delete(key);
      if (found.length < PAGE) return;
      after = found.at(-1)?.key ?? begin;
    }
  }

  async list(after: string | null, limit: number): Promise<ListedAudio[]> {
    const query = new URLSearchParams({ after: after ?? "", limit: String(limit) });
    const watchdog = this.watchdog();
    const response = await this.server.send(watchdog, "GET", `?${query.toString()}`);
    try {
      watchdog.start();
      const listed = (await response.json()) as ListedAudio[];
      return listed.filter(({ key }) => isAudioKey(key));
    } catch (error) {
      throw unavailable("GET", "the list", error);
    } finally {
      watchdog.stop();
    }
  }

  /** The length is not known before the end: when the source fails the connection ends before the body does. */
  private async upload(path: string, source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
    const watchdog = this.watchdog();
    const failures: unknown[] = [];
    async function* limited(): AsyncGenerator<Uint8Array> {
      let sizeBytes = 0;
      try {
        watchdog.stop(); // a slow source is not the server's fault
        for await (const chunk of source) {
          sizeBytes += chunk.byteLength;
          if (sizeBytes > maxBytes) throw new AudioTooLargeError(maxBytes);
          watchdog.start();
          if (chunk.byteLength > 0) yield chunk;
          watchdog.stop();
        }
        watchdog.start();
      } catch (error) {
        failures.push(error);
        throw error;
      }
    }
    try {
      await this.server.send(watchdog, "PUT", path, { body: ReadableStream.from(limited()) });
    } catch (error) {
      throw failures.length > 0 ? failures[0] : error; // fetch hides the error of a source
    }
  }

  private watchdog(): Watchdog {
    return new Watchdog(this.timeoutMs);
  }
}

/** @throws {Error} it is no key; what is one has the same form in a URL */
function pathOf(key: string): string {
  if (!isAudioKey(key)) throw new Error("The key of an audio file is not allowed.");
  return key;
}

function openStore(url: string, { token, timeoutMs }: { readonly token: string; readonly timeoutMs: number }) {
  return new HttpPutAudioStore(new FileServer(url, token), timeoutMs);
}

export default defineAdapter({
  port: "audio",
  schemes: {
    https: { form: "https://HOST/PATH", rest: "server" },
    http: { form: "http://HOST:PORT/PATH", rest: "server" },
  },
  settings: {
    token: { type: "string", required: true, secret: true, description: "Sent to the server as a bearer token" },
    timeoutMs: {
      type: "integer",
      default: 30_000,
      minimum: 100,
      description: "How long the server may be silent when it is its turn, in milliseconds",
    },
  },
  open: async ({ url, settings }) => openStore(url, settings),
  check: ({ url, settings }) => checkStore(() => openStore(url, settings)),
});
