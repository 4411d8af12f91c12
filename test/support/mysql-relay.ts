import { setTimeout as pause } from "node:timers/promises";
import { type Fate, openRelayTo, type Relay } from "./relay.js";

/** A relay to a server that loses the statements or replies that a test names. */
export interface MysqlRelay {
  readonly tcp: Relay;
  /** The same URL through the relay. */
  through(url: string): string;
  /**
   * Breaks the connection on which the next such statement comes: before it gets to the server, or after the server
   * carried it out and before its reply comes back. Resolves when that has happened.
   */
  loseNext(statement: string, part: "request" | "reply"): Promise<void>;
  /**
   * Loses the reply of COMMIT when `chance` says so for a transaction, given everything sent since it began: it is
   * committed, and the connection ends before the reply arrives.
   *
   * @returns a function that ends this and returns how many replies were lost
   */
  loseCommits(chance: (transaction: string) => boolean): () => number;
  /** Refuses connections for so long, and closes the open ones. */
  awayFor(ms: number): Promise<void>;
}

const BEGIN = "START TRANSACTION";
const COMMIT = "COMMIT";

export async function openMysqlRelay(server: string): Promise<MysqlRelay> {
  const { hostname, port, host } = new URL(server);
  let next: { readonly statement: string; readonly fate: Fate; happened(): void } | null = null;
  let losing: { chance(transaction: string): boolean; lost: number } | null = null;
  const transactions = new Map<number, string>();
  // A statement ends its packet, and the client sends nothing after it before the reply.
  const isOf = (bytes: Buffer, statement: string): boolean => bytes.toString("latin1").endsWith(statement);
  const isLost = (bytes: Buffer, connection: number): boolean => {
    if (losing === null) return false;
    const given = (transactions.get(connection) ?? "") + bytes.toString("latin1");
    // Its first statements travel together with BEGIN, and its last ones with COMMIT.
    const transaction = given.slice(Math.max(0, given.lastIndexOf(BEGIN)));
    transactions.set(connection, transaction);
    if (!isOf(bytes, COMMIT) || !losing.chance(transaction)) return false;
    losing.lost += 1;
    return true;
  };
  const fateOf = (bytes: Buffer, connection: number): Fate => {
    if (isLost(bytes, connection)) return "lose-reply";
    if (next === null || !isOf(bytes, next.statement)) return "pass";
    const { fate, happened } = next;
    next = null;
    happened();
    return fate;
  };
  const tcp = await openRelayTo({ host: hostname, port: Number(port) }, { fateOf, isWhole });
  return {
    tcp,
    through: (url) => url.replace(host, tcp.address),
    loseNext: (statement, part) =>
      new Promise((happened) => {
        next = { statement, fate: part === "request" ? "lose" : "lose-reply", happened };
      }),
    loseCommits(chance) {
      const counter = { chance, lost: 0 };
      losing = counter;
      return () => {
        losing = null;
        transactions.clear();
        return counter.lost;
      };
    },
    async awayFor(ms) {
      await tcp.shut();
      await pause(ms);
      await tcp.reopen();
    },
  };
}

const HEADER_BYTES = 4;
const OK = 0x00;
const ERROR = 0xff;
const MORE_RESULTS = 0x0008;
/** Of a length, the byte that says how many follow. */
const LENGTH_BYTES: Readonly<Record<number, number>> = { 0xfc: 2, 0xfd: 3, 0xfe: 8 };

/**
 * Whether the last packet ends the reply to all statements that came in one: each of those before has an OK of its own,
 * which may arrive before the next is carried out.
 *
 * @see https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_ok_packet.html
 */
function isWhole(reply: Buffer): boolean {
  let last: Buffer | null = null;
  for (let at = 0; at < reply.length; at += HEADER_BYTES + (last?.length ?? 0)) {
    if (at + HEADER_BYTES > reply.length) return false;
    const end = at + HEADER_BYTES + reply.readUIntLE(at, 3);
    if (end > reply.length) return false;
    last = reply.subarray(at + HEADER_BYTES, end);
  }
  if (last === null || last[0] !== OK) return last?.[0] === ERROR;
  let at = 1;
  // The number of rows and the last id come before the status.
  for (let lengths = 0; lengths < 2; lengths++) at += 1 + (LENGTH_BYTES[last[at] as number] ?? 0);
  // A row may begin as an OK does.
  return at + 2 <= last.length && (last.readUInt16LE(at) & MORE_RESULTS) === 0;
}
