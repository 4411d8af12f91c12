import { rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../chaos/seeded-random.js";
import { query } from "../mysql-server.js";
import type { Relay, Way } from "../relay.js";
import type { Fleet, Member } from "./fleet.js";

/** How long faults last. */
export interface FaultTimes {
  /** Of a process that is stopped and resumed: longer than a lease. */
  readonly pauseMs: number;
  /** Of all others. */
  readonly faultMs: readonly [number, number];
}

export interface FaultDeps extends FaultTimes {
  readonly fleet: Fleet;
  readonly random: SeededRandom;
}

/** What can go wrong. It also goes right again: `inject` resolves when the fault is over. */
export interface Fault {
  readonly name: string;
  /** What it may hit; no two faults hit the same thing at once. */
  targets(fleet: Fleet): readonly string[];
  inject(target: string, deps: FaultDeps): Promise<void>;
}

/** How a connection is cut: refused at both ends, silent both ways, or one way only. */
const CUTS = ["refused", "silent", "requests", "replies"] as const;

const RESTART_MAX_MS = 2_000;
const KILL_EVERY_MS = 30;
/** Of commits whose reply is lost. */
const LOST_COMMITS = 0.2;
const CLOCK_JUMP_MAX_MS = 3_600_000;
const REFUSING = [500, 503, 429] as const;

const memberNames = ({ members }: Fleet): readonly string[] => members.map(({ name }) => name);

/** The faults of a member: each hits any of them. */
function ofMember(name: string, inject: (member: Member, deps: FaultDeps) => Promise<void>): Fault {
  return {
    name,
    targets: memberNames,
    inject: (target, deps) => inject(deps.fleet.members.find((member) => member.name === target) as Member, deps),
  };
}

/** A fault of a service that there is once. */
function of(target: string, name: string, inject: (deps: FaultDeps) => Promise<void>): Fault {
  return { name, targets: () => [target], inject: (_target, deps) => inject(deps) };
}

const lasting = ({ random, faultMs }: FaultDeps): Promise<void> => sleep(random.between(...faultMs));

export const FAULTS: readonly Fault[] = [
  ofMember("kill", async (member, { fleet, random }) => {
    await fleet.end(member, "SIGKILL");
    await sleep(random.between(0, RESTART_MAX_MS));
    await fleet.start(member);
  }),
  ofMember("stop", async (member, { fleet }) => {
    await fleet.stop(member);
    await fleet.start(member);
  }),
  ofMember("pause", async ({ process: running }, { pauseMs }) => {
    running?.signal("SIGSTOP");
    await sleep(pauseMs);
    running?.signal("SIGCONT");
  }),
  ofMember("partition from the database", ({ database }, deps) => partition(database.tcp, deps)),
  ofMember("partition from the broker", ({ broker }, deps) => partition(broker, deps)),
  ofMember("partition from the vendor", ({ vendor }, deps) => partition(vendor, deps)),
  ofMember("lost replies to COMMIT", async ({ database }, deps) => {
    const end = database.loseCommits(() => deps.random.fraction() < LOST_COMMITS);
    await lasting(deps);
    end();
  }),
  ofMember("clock jump", async ({ clock }, deps) => {
    await writeFile(clock, String(Math.round(deps.random.between(-CLOCK_JUMP_MAX_MS, CLOCK_JUMP_MAX_MS))));
    await lasting(deps);
    await rm(clock);
  }),
  of("files", "partition from the vendor's files", (deps) => partition(deps.fleet.vendor.files, deps)),
  {
    name: "partition from a receiver",
    targets: ({ receivers }) => receivers.map((_, index) => `receiver ${index}`),
    inject: (target, deps) => partition(reached(target, deps).relay, deps),
  },
  {
    name: "refusing receiver",
    targets: ({ receivers }) => receivers.map((_, index) => `receiver ${index}`),
    async inject(target, deps) {
      const { receiver } = reached(target, deps);
      const usual = receiver.respond;
      const status = deps.random.pick(REFUSING) as number;
      receiver.respond = () => status;
      await lasting(deps);
      receiver.respond = usual;
    },
  },
  of("broker", "kill", async ({ fleet: { brokerServer }, random }) => {
    await brokerServer.kill();
    await sleep(random.between(0, RESTART_MAX_MS));
    await brokerServer.start();
  }),
  of("broker", "disk alarm", (deps) => alarm(["set_disk_free_limit", "999GB"], ["set_disk_free_limit", "1MB"], deps)),
  of("broker", "memory alarm", (deps) =>
    alarm(["set_vm_memory_high_watermark", "absolute", "1MB"], ["set_vm_memory_high_watermark", "0.4"], deps),
  ),
  of("database", "kill", ({ fleet, random }) => fleet.killDatabase(() => sleep(random.between(0, RESTART_MAX_MS)))),
  of("database", "killed connections", killConnections),
  {
    name: "full disk",
    targets: ({ volume }) => (volume === null ? [] : ["disk"]),
    async inject(_target, deps) {
      await deps.fleet.volume?.fill();
      await lasting(deps);
      await deps.fleet.volume?.free();
    },
  },
];

function reached(target: string, { fleet }: FaultDeps): Fleet["receivers"][number] {
  return fleet.receivers[Number(target.split(" ")[1])] as Fleet["receivers"][number];
}

async function partition(relay: Relay, deps: FaultDeps): Promise<void> {
  const cut = deps.random.pick(CUTS) as (typeof CUTS)[number];
  if (cut === "refused") {
    await relay.shut();
    await lasting(deps);
    return relay.reopen();
  }
  relay.freeze(cut === "silent" ? undefined : (cut satisfies Way));
  await lasting(deps);
  relay.thaw();
}

/** A limit under which the broker takes no more messages, and back. */
async function alarm(raise: readonly string[], clear: readonly string[], deps: FaultDeps): Promise<void> {
  const { brokerServer } = deps.fleet;
  await brokerServer.control(...raise);
  await lasting(deps);
  await brokerServer.control(...clear);
}

/** Kills the connections that have a transaction under way, one after another, and some of them in their COMMIT. */
async function killConnections(deps: FaultDeps): Promise<void> {
  const { fleet, random, faultMs } = deps;
  const until = performance.now() + random.between(...faultMs);
  while (performance.now() < until) {
    const open = await query<{ readonly id: number }>(
      fleet.mysql.server,
      `SELECT trx_mysql_thread_id AS id FROM information_schema.INNODB_TRX
       WHERE trx_mysql_thread_id > 0 AND trx_mysql_thread_id <> CONNECTION_ID()`,
    );
    const victim = random.pick(open);
    // It may have ended by itself in the meantime.
    if (victim !== undefined) await query(fleet.mysql.server, `KILL CONNECTION ${victim.id}`).catch(ifUnknownThread);
    await sleep(KILL_EVERY_MS);
  }
}

function ifUnknownThread(error: unknown): void {
  if ((error as { readonly errno?: number }).errno !== 1094) throw error;
}
