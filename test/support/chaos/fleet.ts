import { join } from "node:path";
import { createMysqlDatabase } from "../mysql.js";
import { type PrivateMysql, startPrivateMysql } from "../mysql-server.js";
import { recordingProviderSettings } from "../plugins/settings.js";
import { CallRecording } from "../plugins/recording/call-recording.js";
import type { Environment, FermataProcess, Sandbox } from "../process.js";
import { makePrivateBroker, openQueueSpace, type PrivateBroker } from "../rabbitmq.js";
import { readMysqlRows, type Rows } from "./rows.js";
import { CHAOS_SETTINGS } from "./chaos.js";

export type MemberKind = "serve" | "work";

/** A process of the fleet, and its replacements. */
export interface Member {
  readonly name: string;
  readonly kind: MemberKind;
  process: FermataProcess | null;
  /** Its URL; null for a worker, and for a stopped server. */
  url: string | null;
}

const MEMBERS: readonly MemberKind[] = ["serve", "serve", "work", "work"];

/** A start takes a second or two; longer on a busy machine. */
const START_MAX_MS = 60_000;

/** The errors of a start without the database, and of one that loses it. */
const NO_DATABASE = /database of storage\.url cannot be used|temporarily unavailable/;

/** How much of a member's log a failure shows. */
const LOG_LINES = 10;
const LOG_LINE_MAX = 300;

/** Two servers and two workers on a private MySQL and a private RabbitMQ, all of which may be killed. */
export class Fleet {
  readonly members: readonly Member[] = MEMBERS.map((kind, index) => ({
    name: `${kind} ${index % 2}`,
    kind,
    process: null,
    url: null,
  }));
  private databaseIsUp: Promise<void> = Promise.resolve();

  private constructor(
    private readonly sandbox: Sandbox,
    readonly dataDir: string,
    readonly settings: Environment,
    readonly mysql: PrivateMysql,
    readonly broker: PrivateBroker,
  ) {}

  /** Starts the services and migrates, but not the processes. The caller closes it. */
  static async open(sandbox: Sandbox): Promise<Fleet> {
    const dataDir = await sandbox.dataDir();
    const broker = await makePrivateBroker();
    // Sequential: a test process that dies meanwhile leaves nothing of the broker.
    const mysql = await startPrivateMysql();
    try {
      await broker.start();
      const [database, queues] = [await createMysqlDatabase(mysql.server), await openQueueSpace(broker.server)];
      const settings = {
        ...CHAOS_SETTINGS,
        ...recordingProviderSettings(join(dataDir, "recording")),
        FERMATA_STORAGE__URL: database.url,
        FERMATA_QUEUE__URL: queues.url,
        FERMATA_HTTP__PUBLIC_URL: "http://fermata.test",
        FERMATA_JOBS__UNKNOWN_GRACE_SECONDS: "1",
        FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "0.2",
      };
      await sandbox.json(["migrate"], dataDir, settings);
      return new Fleet(sandbox, dataDir, settings, mysql, broker);
    } catch (error) {
      await Promise.all([mysql.close(), broker.remove()]);
      throw error;
    }
  }

  get urls(): string[] {
    return this.members.flatMap(({ url }) => url ?? []);
  }

  get recording(): CallRecording {
    return new CallRecording(join(this.dataDir, "recording"));
  }

  rows(): Promise<Rows> {
    return readMysqlRows(this.settings["FERMATA_STORAGE__URL"] as string);
  }

  /** Starts a stopped member; again, as a supervisor does, when it exits because the database is unavailable. */
  async start(member: Member): Promise<void> {
    for (;;) {
      await this.databaseIsUp;
      const started = this.sandbox.spawn([member.kind], this.dataDir, this.settings);
      try {
        const url = member.kind === "serve" ? await started.listening(START_MAX_MS) : null;
        if (member.kind === "work") await started.line(/^working$/m, START_MAX_MS);
        Object.assign(member, { process: started, url });
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
    Object.assign(member, { process: null, url: null });
    return running.stop(signal);
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

  /** The ends of the logs of all members. */
  get logs(): string {
    return this.members.map(({ name, process: running }) => `${name}:\n${tail(running?.stderr ?? "")}`).join("\n");
  }

  async close(): Promise<void> {
    for (const { process: running } of this.members) await running?.kill();
    await Promise.all([this.mysql.close(), this.broker.remove()]);
  }
}

function tail(log: string): string {
  const lines = log.trimEnd().split("\n").slice(-LOG_LINES);
  return lines.map((line) => line.slice(0, LOG_LINE_MAX)).join("\n");
}
