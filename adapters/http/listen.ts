import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** An address, and the settings that say so. */
export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Such as `http.host, http.port`. */
  readonly settings: string;
  /** True: not shared with other processes of a cluster. */
  readonly exclusive?: boolean;
}

/** @throws {Error} naming the address and why it cannot be bound */
export function listen(server: Server, at: ListenAddress): Promise<{ readonly url: string }> {
  const { host, port, exclusive = false } = at;
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException): void => reject(new Error(listenMessage(at, cause), { cause }));
    server.once("error", fail);
    server.listen({ port, host, exclusive }, () => {
      server.off("error", fail);
      resolve({ url: urlOf(host, (server.address() as AddressInfo).port) });
    });
  });
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use",
  EADDRNOTAVAIL: "this machine does not have the address",
  EACCES: "the port needs more rights",
  ENOTFOUND: "the name is not known",
};

function listenMessage({ host, port, settings }: ListenAddress, { code = "", message }: NodeJS.ErrnoException): string {
  return `Cannot listen on ${host}:${port} (${settings}): ${LISTEN_FAILURES[code] ?? message}.`;
}

/** An address that a client on this machine can use: a server on all addresses is reached by the loopback one. */
function urlOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
