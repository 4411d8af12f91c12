import { type Connection, type ConnectionOptions, createConnection } from "mysql2";
import { isUnavailable, NoHostError } from "./errors.js";
import { MYSQL_LIMITS, type MysqlHost, hostsOf } from "./options.js";
import { MysqlProbe } from "./probe.js";
import { joinServer, readState } from "./server-state.js";
import { type MysqlConnection, MysqlSession } from "./session.js";

/** A host that responds is preferred to those after it for so long. */
const HEAD_START_MS = 250;

/** The state of the host in use is read again when so much time has passed: it may only read by now. */
const STATE_MS = 1_000;

/**
 * The hosts of a URL, one of which is in use: the first that takes writes. It is in use until it does not respond or
 * takes no writes any more; then it is the last to be tried. A single host is used whatever it is.
 */
export class MysqlHosts {
  private readonly hosts: readonly MysqlHost[];
  private readonly hostOf = new WeakMap<Connection, MysqlHost>();
  private readonly probes: ReadonlyMap<MysqlHost, MysqlProbe>;
  /** null: none is known to take writes. */
  private used: MysqlHost | null = null;
  private left: MysqlHost | null = null;
  private stateAt = -Infinity;

  private readonly readsOnly: boolean;

  /**
   * @param target what follows `mysql:` in the URL
   * @param options `readsOnly`: a host that takes no writes will do
   */
  constructor(target: string, { readsOnly = false }: { readonly readsOnly?: boolean } = {}) {
    this.readsOnly = readsOnly;
    this.hosts = hostsOf(target);
    this.probes = new Map(
      this.hosts.map((host) => [host, new MysqlProbe(host.options, MYSQL_LIMITS.probeMs)] as const),
    );
  }

  get areSeveral(): boolean {
    return this.hosts.length > 1;
  }

  /**
   * Opens a connection to the host in use, or to the next that takes writes.
   *
   * @param setup a statement that follows
   * @param limitMs how long one host may take for its connection, and for the setup again
   * @throws {NoHostError} no host takes writes; else what the driver says
   */
  async open(setup: string, limitMs: number): Promise<MysqlConnection> {
    const usedBefore = this.used;
    const [first, ...others] = this.inOrder();
    if (first === undefined) throw new Error("A storage URL has a host.");
    const { host, connection } =
      others.length === 0
        ? { host: first, connection: await openConnection(first.options, setup, limitMs) }
        : await firstOf([first, ...others], (one) => this.openWritable(one, setup, limitMs));
    this.hostOf.set(connection, host);
    // Of two that were opened at once the first decides.
    if (this.used === usedBefore) {
      this.used = host;
      this.stateAt = performance.now();
    }
    return connection;
  }

  /** Whether the connection leads to the host in use, and that still takes writes. */
  async isUsed(connection: MysqlConnection): Promise<boolean> {
    if (!this.areSeveral) return true;
    if (this.hostOf.get(connection) !== this.used) return false;
    const now = performance.now();
    if (this.readsOnly || now - this.stateAt < STATE_MS) return true;
    this.stateAt = now;
    const session = new MysqlSession(connection, { limitMs: MYSQL_LIMITS.pingMs });
    const refusal = await readState(session).then(
      (state) => state.refusal,
      (error: unknown) => (error as Error).message,
    );
    if (refusal !== null) this.leave(connection);
    return refusal === null;
  }

  /** The host of this connection does not respond, or takes no writes: another one is tried first. */
  leave(connection: Connection): void {
    const host = this.hostOf.get(connection);
    if (!this.areSeveral || host === undefined || host !== this.used) return;
    this.used = null;
    this.left = host;
  }

  /** Whether the host of this connection responds to a new one. */
  async isThere(connection: Connection): Promise<boolean> {
    const host = this.hostOf.get(connection);
    return host === undefined || ((await this.probes.get(host)?.isServerThere()) ?? true);
  }

  private inOrder(): MysqlHost[] {
    const rank = (host: MysqlHost): number => (host === this.used ? 0 : host === this.left ? 2 : 1);
    return [...this.hosts].sort((one, other) => rank(one) - rank(other));
  }

  private async openWritable(host: MysqlHost, setup: string, limitMs: number): Promise<MysqlConnection> {
    const connection = await openConnection(host.options, setup, limitMs);
    try {
      const { refusal } = await joinServer(new MysqlSession(connection, { limitMs }));
      if (refusal === null || this.readsOnly) return connection;
      throw new NoHostError(refusal);
    } catch (error) {
      connection.stream.destroy();
      throw error;
    }
  }
}

interface Opened {
  readonly host: MysqlHost;
  readonly connection: MysqlConnection;
}

/** Tries the hosts in turn, the next one when one fails or its head start is over. */
function firstOf(hosts: readonly MysqlHost[], open: (host: MysqlHost) => Promise<MysqlConnection>): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const failures: { readonly place: string; readonly error: Error }[] = [];
    let begun = 0;
    let isOver = false;
    let headStart: NodeJS.Timeout | undefined;
    const tryNext = (): void => {
      clearTimeout(headStart);
      const host = hosts[begun];
      if (isOver || host === undefined) return;
      begun += 1;
      headStart = setTimeout(tryNext, HEAD_START_MS);
      open(host).then(
        (connection) => {
          if (isOver) return connection.destroy();
          isOver = true;
          clearTimeout(headStart);
          resolve({ host, connection });
        },
        (error: Error) => {
          failures.push({ place: host.place, error });
          if (failures.length < hosts.length) return tryNext();
          clearTimeout(headStart);
          reject(noHost(failures));
        },
      );
    };
    tryNext();
  });
}

/** What every host refuses for good, a wrong password for example, is the error itself. */
function noHost(failures: readonly { readonly place: string; readonly error: Error }[]): Error {
  const [final] = failures;
  if (final !== undefined && !failures.some(({ error }) => isUnavailable(error))) return final.error;
  return new NoHostError(
    `no host takes writes: ${failures.map(({ place, error }) => `${place}: ${reasonOf(error)}`).join("; ")}`,
  );
}

/** Node's error for a name with several addresses has no words. */
export function reasonOf(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  return error.message === "" ? String(code) : error.message;
}

/** @param limitMs how long the connection may take, and its setup again */
export async function openConnection(
  options: ConnectionOptions,
  setup: string,
  limitMs: number,
): Promise<MysqlConnection> {
  const connection = createConnection({ ...options, connectTimeout: limitMs }) as MysqlConnection;
  // The pool notices the loss of an idle connection by its socket; an `error` without a listener would end the process.
  connection.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error === null ? resolve() : reject(error)));
  });
  try {
    await new MysqlSession(connection, { limitMs }).run(setup);
    return connection;
  } catch (error) {
    connection.stream.destroy();
    throw error;
  }
}
