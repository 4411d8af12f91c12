interface Server {
  readonly url: string;
  readonly isLast: boolean;
  readonly left: AbortController;
}

/** The servers of one installation that respond, as its clients know them. */
export class Servers {
  private servers: Server[] = [];

  /** @param isLast only for when the others do not respond */
  use(url: string, isLast = false): void {
    this.servers.push({ url, isLast, left: new AbortController() });
    this.servers.sort((one, other) => Number(one.isLast) - Number(other.isLast));
  }

  /** A server that died, or does not respond; its requests are given up. */
  leave(url: string): void {
    for (const server of this.servers) if (server.url === url) server.left.abort();
    this.servers = this.servers.filter((server) => server.url !== url);
  }

  /** @returns the server of the `tries`th try of a request, from 0 on, and the signal that it is gone */
  choose(preferred: string | null, tries: number): { readonly url: string; readonly gone: AbortSignal } | undefined {
    const first = this.servers.filter(({ url }) => url === preferred);
    const order = [...first, ...this.servers.filter(({ url }) => url !== preferred)];
    const chosen = order[tries % Math.max(1, order.length)];
    return chosen === undefined ? undefined : { url: chosen.url, gone: chosen.left.signal };
  }
}
