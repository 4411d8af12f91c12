import { setTimeout as sleep } from "node:timers/promises";
import { MysqlGroup } from "../mysql-group.js";
import { type PrivateMysql, query } from "../mysql-server.js";
import type { Fault, ServersUnderChaos } from "./database-chaos.js";
import type { SeededRandom } from "./seeded-random.js";

const DATABASE = "fermata";

/** Longer than the others wait for a silent member, and shorter. */
const FREEZE_MS = [1_000, 12_000] as const;

/** Three servers of a group, mostly its primary, are killed, stopped and frozen. */
export async function openGroupUnderChaos(): Promise<ServersUnderChaos> {
  const group = await MysqlGroup.start();
  const each = group.nodes.map(({ server }) => `${server}/${DATABASE}`);
  const [first] = group.nodes as [PrivateMysql];
  await query(first.server, `CREATE DATABASE ${DATABASE}`);
  return {
    each,
    url: (from) => group.url(DATABASE, from),
    complete: each[0] ?? "",
    async strike(random) {
      const isPrimary = random.fraction() < 0.75;
      const primary = await group.primary(first);
      const node = isPrimary ? primary : random.pick(group.nodes.filter((one) => one !== primary));
      return strike(group, node ?? primary, isPrimary ? "primary" : "another", random);
    },
    ready: () => group.ready(),
    close: () => group.close(),
  };
}

async function strike(group: MysqlGroup, node: PrivateMysql, what: string, random: SeededRandom): Promise<Fault> {
  const chance = random.fraction();
  const kind = chance < 0.4 ? "freeze" : chance < 0.85 ? "kill" : "stop";
  if (kind !== "freeze") {
    await node.kill(kind === "kill" ? "SIGKILL" : "SIGTERM");
    const repair = async (): Promise<void> => {
      await node.start();
      await group.join(node);
    };
    return { kind: `${kind} ${what}`, repair };
  }
  await node.freeze();
  const ends = sleep(random.between(...FREEZE_MS));
  const repair = async (): Promise<void> => {
    await ends;
    node.thaw();
  };
  return { kind: `freeze ${what}`, repair };
}
