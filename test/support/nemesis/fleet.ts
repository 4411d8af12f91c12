import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EXIT_UNFINISHED } from "../../../config/stop-signal.js";
import { CHAOS_SETTINGS } from "../chaos/chaos.js";
import type { CrashDatabase } from "../crashes/database.js";
import { Receiver } from "../crashes/receiver.js";
import { createMysqlDatabase } from "../mysql.js";
import { type MysqlRelay, openMysqlRelay } from "../mysql-relay.js";
import { type PrivateMysql, query, startPrivateMysql } from "../mysql-server.js";
import type { Environment, FermataProcess, Sandbox } from "../process.js";
import { makePrivateBroker, openQueueSpace, type PrivateBroker } from "../rabbitmq.js";
import { openRelayTo, type Relay } from "../relay.js";
import { freePort } from "../services.js";
import { httpModelPlugin, replicatePlugin } from "../vendor/index.js";
import { wallClockOffAsIn } from "../wrong-clock.js";
import { SmallVolume } from "./small-volume.js";
import { openScriptedVendor, type ScriptedVendor } from "./vendor.js";

export type MemberKind = "serve" | "work";

/** A process of the fleet, its replacements, and its ways to everything that it uses. */
export interface Member {
  readonly name: string;
  readonly kind: MemberKind;
  /** Where it serves; all its replacements, too. */
  readonly port: number;
  readonly database: MysqlRelay;
  readonly broker: Relay;
  readonly vendor: Relay;
  /** The file with what its clock is off by. */
  readonly clock: string;
  process: FermataProcess | null;
}

export interface FleetOptions {
  readonly leaseSeconds: number;
  /** Longer than callbacks may be held up, and shorter than everything may take to end after healing. */
  readonly unknownGraceSeconds: number;
  readonly renderMs: number;
  /** The longest that a call of the vendor may take. */
  readonly callSeconds: number;
  /** The longest wait between two attempts of a delivery. */
  readonly deliverySeconds: number;
  /** The longest that a delivery attempt may take; a quarter of how long one of a lost process waits for another. */
  readonly deliveryTimeoutSeconds: number;
  /** `audio.analyser`: `none` saves the process that decodes each file. */
  readonly analyser: "builtin" | "none";
}

/** A receiver of webhooks, and the way to it. */
export interface ReachedReceiver {
  readonly receiver: Receiver;
  readonly relay: Relay;
}

const MEMBERS: readonly MemberKind[] = ["serve", "serve", "serve", "work", "work"];
const RECEIVERS = 2;

/** A start takes a second or two; longer on a busy machine. */
const START_MAX_MS = 90_000;

/** The errors of a start without the database, and of one that loses it. */
const NO_DATABASE = /database of storage\.url cannot be used|temporarily unavailable/;

/** What a stop says that leaves work to the leases, or gives a call up that cannot be repeated. */
const GIVEN_UP = /left to their leases|The stop gave up calls/;

const DELIVERY_WAITS = 50;

/** How much of a member's log a failure shows. */
const LOG_LINES = 10;
const LOG_LINE_MAX = 300;

/**
 * Three servers and two workers on a private MariaDB, a private RabbitMQ, a scripted vendor and two receivers. Each
 * process has relays of its own to the services, and its data directory is on a small volume.
 */
export class Fleet {
  readonly adminToken = "token-of-an-owner-for-a-run-of-the-tests";
  private databaseIsUp: Promise<void> = Promise.resolve();
  /** Every process that was started, by the name of its member. */
  private readonly started: (readonly [string, FermataProcess])[] = [];

  private constructor(
    private readonly sandbox: Sandbox,
    readonly dataDir: string,
    readonly settings: Environment,
    readonly databaseUrl: string,
    readonly mysql: PrivateMysql,
    readonly brokerServer: PrivateBroker,
    readonly vendor: ScriptedVendor,
    readonly receivers: readonly ReachedReceiver[],
    readonly members: readonly Member[],
    /** null where this user may not mount one: then the disk is never full. */
    readonly volume: SmallVolume | null,
  ) {}

  /** Starts the services and migrates, but not the processes. The caller closes it. */
  static async open(sandbox: Sandbox, options: FleetOptions): Promise<Fleet> {
    const dataDir = await sandbox.dataDir();
    const volume = await SmallVolume.mount(dataDir);
    const brokerServer = await makePrivateBroker();
    // Sequential: a test process that dies meanwhile leaves nothing of the broker.
    const mysql = await startPrivateMysql();
    try {
      await brokerServer.start();
      const [database, queues] = [await createMysqlDatabase(mysql.server), await openQueueSpace(brokerServer.server)];
      const vendor = await openScriptedVendor(options.renderMs);
      const file = join(dataDir, "fermata.json");
      const receivers = await Promise.all(Array.from({ length: RECEIVERS }, openReceiver));
      const folder = join(await sandbox.dataDir(), "clocks");
      await mkdir(folder);
      const members = await Promise.all(
        MEMBERS.map((kind, index) => openMember(kind, `${kind} ${index}`, folder, { mysql, brokerServer, vendor })),
      );
      const settings = {
        ...CHAOS_SETTINGS,
        FERMATA_CONFIG: file,
        FERMATA_STORAGE__URL: database.url,
        FERMATA_QUEUE__URL: queues.url,
        FERMATA_JOBS__LEASE_SECONDS: String(options.leaseSeconds),
        FERMATA_AUDIO__ANALYSER: options.analyser,
        FERMATA_JOBS__CONFIRM_SECONDS: "2",
        FERMATA_JOBS__UNKNOWN_GRACE_SECONDS: String(options.unknownGraceSeconds),
        FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "0.2",
        FERMATA_WEBHOOKS__SCHEDULE_SECONDS: scheduleUpTo(options.deliverySeconds),
        FERMATA_WEBHOOKS__TIMEOUT_SECONDS: String(options.deliveryTimeoutSeconds),
      };
      const fleet = new Fleet(
        sandbox,
        dataDir,
        settings,
        database.url,
        mysql,
        brokerServer,
        vendor,
        receivers,
        members,
        volume,
      );
      await writeFile(file, JSON.stringify(documentFor(fleet, options)));
      await sandbox.json(["migrate"], dataDir, settings);
      return fleet;
    } catch (error) {
      await Promise.all([mysql.close(), brokerServer.remove(), volume?.unmount()]);
      throw error;
    }
  }

  /** The rows, read without Fermata's code, and not through a relay. */
  get database(): CrashDatabase {
    return { url: this.databaseUrl, all: (sql) => query(this.databaseUrl, sql), close: () => Promise.resolve() };
  }

  get servers(): Member[] {
    return this.members.filter(({ kind }) => kind === "serve");
  }

  /** Starts a stopped member; again, as a supervisor does, when it exits because the database is unavailable. */
  async start(member: Member): Promise<void> {
    for (;;) {
      await this.databaseIsUp;
      const started = this.sandbox.spawn([member.kind], this.dataDir, { ...this.settings, ...this.settingsOf(member) });
      this.started.push([member.name, started]);
      try {
        if (member.kind === "serve") await started.listening(START_MAX_MS);
        else await started.line(/^working$/m, START_MAX_MS);
        member.process = started;
        return;
      } catch (error) {
        if (!started.hasExited) throw error;
        const { code } = await started.exited;
        if (code !== 1 || !NO_DATABASE.test(started.stderr)) throw error;
      }
    }
  }

  /** Ends a member, by SIGKILL or by SIGTERM. @returns its exit code; null when it was killed */
  async end(member: Member, signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    const { process: running } = member;
    if (running === null) throw new Error(`${member.name} is down already.`);
    // From now on it may be stopped.
    member.process = null;
    return running.stop(signal);
  }

  /**
   * Stops a member in the middle of its work. Where it cannot put all of it down in time, it has to say so.
   *
   * @throws {Error} with the end of its log, when it ended in another way
   */
  async stop(member: Member): Promise<void> {
    const { process: running } = member;
    const code = await this.end(member, "SIGTERM");
    const log = running?.stderr ?? "";
    if (code === 0 || (code === EXIT_UNFINISHED && GIVEN_UP.test(log))) return;
    throw new Error(`${member.name} ended with ${code} after SIGTERM.\n${tail(log)}`);
  }

  /** Kills the database and starts it again after `pause`; starts of members wait meanwhile. */
  async killDatabase(pause: () => Promise<void>): Promise<void> {
    const killAndStart = async (): Promise<void> => {
      await this.mysql.kill();
      await pause();
      await this.mysql.start();
    };
    this.databaseIsUp = killAndStart();
    await this.databaseIsUp;
  }

  /** @throws {Error} with the end of its log, when a process has ended unexpectedly */
  checkAlive(): void {
    for (const { name, process: running } of this.members) {
      if (running?.hasExited === true) throw new Error(`${name} ended unexpectedly.\n${tail(running.stderr)}`);
    }
  }

  /** The ends of the logs of all processes. */
  get logs(): string {
    return this.started.map(([name, { stderr }]) => `${name}:\n${tail(stderr)}`).join("\n");
  }

  /** Writes the whole logs of all processes to this folder. */
  async writeLogs(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    for (const [index, [name, { stderr }]] of this.started.entries())
      await writeFile(join(folder, `${String(index).padStart(3, "0")}-${name.replace(" ", "-")}.log`), stderr);
  }

  async close(): Promise<void> {
    for (const { process: running } of this.members) await running?.kill();
    const relays = this.members.flatMap(({ database, broker, vendor }) => [database.tcp, broker, vendor]);
    await Promise.all([...relays, ...this.receivers.map(({ relay }) => relay)].map((relay) => relay.close()));
    for (const { receiver } of this.receivers) receiver.close();
    await Promise.all([this.vendor.close(), this.mysql.close(), this.brokerServer.remove(), this.volume?.unmount()]);
  }

  private settingsOf({ port, database, broker, vendor, clock }: Member): Environment {
    const { host } = new URL(this.brokerServer.server);
    return {
      ...wallClockOffAsIn(clock),
      FERMATA_HTTP__PORT: String(port),
      FERMATA_METRICS__PORT: "0",
      FERMATA_STORAGE__URL: database.through(this.databaseUrl),
      FERMATA_QUEUE__URL: (this.settings["FERMATA_QUEUE__URL"] as string).replace(host, broker.address),
      FERMATA_PLUGINS__HTTP_MODEL__BASE_URL: `http://${vendor.address}`,
      FERMATA_PLUGINS__REPLICATE__BASE_URL: `http://${vendor.address}/v1`,
    };
  }
}

/** The settings of all members that have no environment name of their own. */
function documentFor({ adminToken, vendor }: Fleet, { callSeconds }: FleetOptions): object {
  const { url } = vendor.vendor;
  const calls = { timeoutSeconds: callSeconds, concurrency: 8 };
  return {
    // Providers send callbacks to https only; the vendor knows the servers behind it.
    http: { publicUrl: "https://fermata.test" },
    admin: { token: adminToken },
    webhooks: { allowNetworks: ["127.0.0.0/8"], allowHttp: true },
    stemSplit: { providers: ["replicate"] },
    plugins: {
      synth: { enabled: false },
      "http-model": httpModelPlugin(url, { shape: "accepts", callbacks: true, idempotent: true, ...calls }),
      replicate: replicatePlugin(url, { splits: true, timeoutMs: callSeconds * 1_000 }),
    },
  };
}

/** As many waits as are allowed, each longer than the one before until they are so long. */
function scheduleUpTo(longestSeconds: number): string {
  return Array.from({ length: DELIVERY_WAITS }, (_, index) => Math.min(2 ** index, longestSeconds)).join();
}

interface Services {
  readonly mysql: PrivateMysql;
  readonly brokerServer: PrivateBroker;
  readonly vendor: ScriptedVendor;
}

async function openMember(kind: MemberKind, name: string, folder: string, services: Services): Promise<Member> {
  const relayTo = (url: string): Promise<Relay> => {
    const { hostname, port } = new URL(url);
    return openRelayTo({ host: hostname, port: Number(port) });
  };
  return {
    name,
    kind,
    port: await freePort(),
    database: await openMysqlRelay(services.mysql.server),
    broker: await relayTo(services.brokerServer.server),
    vendor: await relayTo(services.vendor.vendor.url),
    clock: join(folder, name.replace(" ", "-")),
    process: null,
  };
}

async function openReceiver(): Promise<ReachedReceiver> {
  const receiver = await Receiver.open();
  return { receiver, relay: await openRelayTo({ host: "127.0.0.1", port: receiver.port }) };
}

function tail(log: string): string {
  const lines = log.trimEnd().split("\n").slice(-LOG_LINES);
  return lines.map((line) => line.slice(0, LOG_LINE_MAX)).join("\n");
}
