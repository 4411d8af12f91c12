import { setTimeout as sleep } from "node:timers/promises";
import type { PrivateMysql } from "../mysql-server.js";
import { ReplicatedMysql } from "../replicated-mysql.js";
import type { Fault, ServersUnderChaos } from "./database-chaos.js";
import type { SeededRandom } from "./seeded-random.js";

/** How long the tool that promotes needs to be sure that the primary is gone. */
const NOTICE_MS = 2_000;

/** How long an old primary that was frozen believes that it is the primary still. */
const ASTRAY_MS = [500, 3_000] as const;

/**
 * A primary and its replica, which is promoted when the primary is killed or frozen, or by a switchover; the old
 * primary then follows the new one. This class is the tool that does so: Fermata promotes nothing.
 */
export class ReplicatedUnderChaos implements ServersUnderChaos {
  readonly each: readonly string[];
  private primary: PrivateMysql;
  private replica: PrivateMysql;

  private constructor(private readonly mysql: ReplicatedMysql) {
    [this.primary, this.replica] = mysql.servers;
    this.each = mysql.servers.map((server) => mysql.rootUrl(server));
  }

  static async open(): Promise<ReplicatedUnderChaos> {
    return new ReplicatedUnderChaos(await ReplicatedMysql.start({ semiSynchronous: true }));
  }

  get complete(): string {
    return this.mysql.rootUrl(this.primary);
  }

  url(first: number): string {
    const { mysql } = this;
    const places = mysql.servers.map((server) => mysql.placeOf(server));
    return mysql.url([...places.slice(first), ...places.slice(0, first)]);
  }

  strike(random: SeededRandom): Promise<Fault> {
    const chance = random.fraction();
    if (chance < 0.35) return this.kill();
    if (chance < 0.65) return this.freeze(random.between(...ASTRAY_MS));
    return chance < 0.85 ? this.switchOver() : this.killReplica();
  }

  ready(): Promise<void> {
    return this.mysql.caughtUp(this.replica, this.primary);
  }

  close(): Promise<void> {
    return this.mysql.close();
  }

  private async kill(): Promise<Fault> {
    const old = this.primary;
    await old.kill();
    await sleep(NOTICE_MS);
    await this.promote();
    return { kind: "kill", repair: () => this.rejoin(old) };
  }

  /** It wakes up, takes writes as far as it is concerned, and is killed before it joins again. */
  private async freeze(astrayMs: number): Promise<Fault> {
    const old = this.primary;
    await old.freeze();
    await sleep(NOTICE_MS);
    await this.promote();
    const repair = async (): Promise<void> => {
      old.thaw();
      await sleep(astrayMs);
      await old.kill();
      await this.rejoin(old);
    };
    return { kind: "freeze", repair };
  }

  private async switchOver(): Promise<Fault> {
    const old = this.primary;
    await this.mysql.demote(old);
    await this.mysql.caughtUp(this.replica, old);
    await this.promote();
    return { kind: "switch over", repair: () => this.follow() };
  }

  private async killReplica(): Promise<Fault> {
    const { replica } = this;
    await replica.kill();
    await sleep(NOTICE_MS);
    await this.mysql.goOnAlone(this.primary);
    return { kind: "kill replica", repair: () => this.rejoin(replica) };
  }

  /** Its commits wait for no replica until the old primary follows. */
  private async promote(): Promise<void> {
    [this.primary, this.replica] = [this.replica, this.primary];
    await this.mysql.promote(this.primary);
  }

  /** Starts a server, which only reads then, and has it follow the primary. */
  private async rejoin(server: PrivateMysql): Promise<void> {
    await server.start();
    await this.follow();
  }

  private follow(): Promise<void> {
    return this.mysql.follow(this.replica, this.primary);
  }
}
