import { setTimeout as sleep } from "node:timers/promises";
import { GaleraCluster, type GaleraNode } from "../galera.js";
import { query } from "../mysql-server.js";
import type { Fault, ServersUnderChaos } from "./database-chaos.js";
import type { SeededRandom } from "./seeded-random.js";

const DATABASE = "fermata";

/** Longer than Galera waits for a silent node, and shorter. */
const FREEZE_MS = [1_000, 9_000] as const;

/** Three nodes, which are killed, stopped and frozen; they need 2 to 4 s to give up one of them. */
export async function openGaleraUnderChaos(): Promise<ServersUnderChaos> {
  const cluster = await GaleraCluster.start();
  const each = cluster.nodes.map(({ server }) => `${server}/${DATABASE}`);
  await query(cluster.nodes[0]?.server ?? "", `CREATE DATABASE ${DATABASE}`);
  return {
    each,
    url: (first) => cluster.url(DATABASE, first),
    complete: each[2] ?? "",
    strike: (random) => strike(random.pick(cluster.nodes) as GaleraNode, random),
    ready: () => cluster.ready(),
    close: () => cluster.close(),
  };
}

async function strike(node: GaleraNode, random: SeededRandom): Promise<Fault> {
  const chance = random.fraction();
  const kind = chance < 0.45 ? "freeze" : chance < 0.85 ? "kill" : "stop";
  if (kind !== "freeze") {
    await node.kill(kind === "kill" ? "SIGKILL" : "SIGTERM");
    return { kind, repair: () => node.start() };
  }
  node.freeze();
  const ends = sleep(random.between(...FREEZE_MS));
  return {
    kind,
    async repair() {
      await ends;
      node.thaw();
    },
  };
}
