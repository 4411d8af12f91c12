import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import ipaddr from "ipaddr.js";

const CODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;
const TYPES: Readonly<Record<number, "A" | "AAAA" | undefined>> = { 1: "A", 28: "AAAA" };
const ALIAS = 5;
const CLASS_INTERNET = 1;

/**
 * The reply of a name server to one question: addresses, a failure, an alias before the addresses, or nothing at all.
 */
export type NameResponse =
  | readonly string[]
  | Exclude<keyof typeof CODES, "NOERROR">
  | { readonly alias: string; readonly addresses: readonly string[] }
  | "silence";

export interface NameServer {
  /** `host:port` */
  readonly address: string;
  /** The questions, as `A receiver.example`. */
  readonly questions: readonly string[];
  /** Resolves when there were `count` questions. */
  asked(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A name server (RFC 1035) on UDP that replies to every question as scripted, with a TTL of 0. */
export async function openNameServer(
  response: (type: "A" | "AAAA", name: string) => NameResponse,
): Promise<NameServer> {
  const socket: Socket = createSocket("udp4");
  const questions: string[] = [];
  socket.on("message", (query: Buffer, from: RemoteInfo) => {
    const { name, type, end } = questionOf(query);
    if (type === undefined) return;
    questions.push(`${type} ${name}`);
    socket.emit("question");
    const said = response(type, name);
    if (said !== "silence") socket.send(replyTo(query.subarray(0, end), type, said), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    async asked(count) {
      while (questions.length < count) await once(socket, "question");
    },
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function questionOf(query: Buffer): {
  readonly name: string;
  readonly type: "A" | "AAAA" | undefined;
  readonly end: number;
} {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join("."), type: TYPES[query.readUInt16BE(at + 1)], end: at + 5 };
}

function replyTo(query: Buffer, type: "A" | "AAAA", said: Exclude<NameResponse, "silence">): Buffer {
  const reply = Buffer.from(query);
  reply.writeUInt16BE(0x8180 | (typeof said === "string" ? CODES[said] : CODES.NOERROR), 2); // a reply, recursion on
  // both sides
  reply.fill(0, 6, 12);
  if (typeof said === "string") return reply;
  const [alias, addresses] = "alias" in said ? [said.alias, said.addresses] : [null, said];
  const owner = alias === null ? Buffer.from([0xc0, 12]) : encoded(alias); // 0xc0 12: the name of the question
  const records = addresses.map((address) =>
    record(owner, type === "A" ? 1 : 28, Buffer.from(ipaddr.parse(address).toByteArray())),
  );
  if (alias !== null) records.unshift(record(Buffer.from([0xc0, 12]), ALIAS, encoded(alias)));
  reply.writeUInt16BE(records.length, 6);
  return Buffer.concat([reply, ...records]);
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(CLASS_INTERNET, 2);
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fields, data]);
}

function encoded(name: string): Buffer {
  return Buffer.concat([
    ...name.split(".").map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, "latin1")),
    Buffer.from([0]),
  ]);
}
