import { setTimeout as sleep } from "node:timers/promises";
import { type ApiResponse, ApiClient, type SendOptions } from "../api-client.js";
import type { Servers } from "./servers.js";

const PAUSE_MS = 30;
/** A server that does not respond in this time is given up for the next one. */
const PATIENCE_MS = 10_000;
/** Longer than any scenario. */
const BOUND_MS = 240_000;

/** A client that asks until it is answered, by whichever server there is. */
export class PatientClient {
  /** Responses that no client should get. */
  readonly undecided: string[] = [];
  /** How many responses it got. */
  responses = 0;
  private readonly over = AbortSignal.timeout(BOUND_MS);

  constructor(
    private readonly key: string,
    private readonly servers: Servers,
    /** The server that it tries first; null: any. */
    private readonly preferred: string | null,
  ) {}

  async send(method: string, path: string, options: SendOptions = {}): Promise<ApiResponse> {
    let last = "no response";
    for (let tries = 0; !this.over.aborted; tries++) {
      const response = await this.trySend(tries, method, path, options);
      if (response !== null) this.responses += 1;
      if (response !== null && response.status < 500) return response;
      if (response !== null) last = `${response.status} ${response.text}`;
      if (response !== null && response.status !== 503 && response.status !== 502)
        this.undecided.push(`${method} ${path}: ${response.status} ${response.text}`);
      await sleep(PAUSE_MS);
    }
    throw new Error(`${method} ${path} was not answered, but with ${last}`);
  }

  private async trySend(
    tries: number,
    method: string,
    path: string,
    options: SendOptions,
  ): Promise<ApiResponse | null> {
    const server = this.servers.choose(this.preferred, tries);
    if (server === undefined) return null;
    const signal = AbortSignal.any([server.gone, AbortSignal.timeout(PATIENCE_MS)]);
    return new ApiClient(server.url, this.key).send(method, path, { ...options, signal }).catch(() => null);
  }
}
