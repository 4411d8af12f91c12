/** Attacks on availability: each takes a target and a size, so that the same attack has a short and a long form. */
import { openMany, type RawConnection } from "./raw-connection.js";
import type { AttackTarget } from "./target.js";

const HOST = "Host: fermata.test\r\n";
const MIB = 1024 * 1024;

/** Partial requests. */
const UNFINISHED = [
  "",
  `GET /healthz HTTP/1.1\r\n${HOST}X-Half: `,
  `POST /api/v1/generations HTTP/1.1\r\n${HOST}Content-Length: 9\r\n\r\nhalf`,
];

export interface AttackSize {
  readonly connections: number;
}

/** The result of an attack's connections. */
export interface AttackResult {
  readonly connections: readonly RawConnection[];
}

/** Pipelined requests in one packet on each connection, whose responses are not read. The connections stay open. */
export async function attackPipelining(
  target: AttackTarget,
  { connections: count, requests, path }: AttackSize & { readonly requests: number; readonly path: string },
): Promise<AttackResult> {
  const connections = await openMany(target.url, count, { reads: false });
  const bytes = `GET ${path} HTTP/1.1\r\n${HOST}\r\n`.repeat(requests);
  for (const connection of connections) connection.send(bytes);
  return { connections };
}

/** One request on each connection, whose response is not read. The connections stay open. */
export async function attackUnread(
  target: AttackTarget,
  { connections: count, path }: AttackSize & { readonly path: string },
): Promise<AttackResult> {
  const connections = await openMany(target.url, count, { reads: false });
  for (const connection of connections) connection.send(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`);
  return { connections };
}

/** Connections that send nothing, half a head, or half a body, in turn. They never end their side. */
export async function attackUnfinished(target: AttackTarget, size: AttackSize): Promise<AttackResult> {
  const connections = await openMany(target.url, size.connections, { reads: true });
  for (const [index, connection] of connections.entries()) {
    connection.send(UNFINISHED[index % UNFINISHED.length] as string);
  }
  return { connections };
}

/** Bodies of a mebibyte without their last byte, to an unknown callback URL. */
export async function attackCallbackBodies(target: AttackTarget, size: AttackSize): Promise<AttackResult> {
  const connections = await openMany(target.url, size.connections, { reads: true });
  const path = `/callbacks/synth/job_${"0".repeat(26)}/${"A".repeat(43)}`;
  const body = Buffer.alloc(MIB - 1, "x");
  for (const connection of connections) {
    connection.send(`POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${MIB}\r\n\r\n`);
    connection.send(body);
  }
  return { connections };
}

/** More connections than one network may have, all silent. They never end their side. */
export async function attackConnections(target: AttackTarget, size: AttackSize): Promise<AttackResult> {
  return { connections: await openMany(target.url, size.connections, { reads: true }) };
}
