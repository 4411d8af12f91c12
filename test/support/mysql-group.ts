import { randomUUID } from "node:crypto";
import { type PrivateMysql, query, startPrivateMysql } from "./mysql-server.js";
import { eventually } from "./rabbitmq.js";
import { freePort } from "./services.js";

/** A member that was away is sent what it lacks; one that was expelled notices after seconds. */
const JOIN_MS = 120_000;

interface Member {
  readonly MEMBER_PORT: number;
  readonly MEMBER_STATE: string;
  readonly MEMBER_ROLE: string;
}

const MEMBERS = "SELECT MEMBER_PORT, MEMBER_STATE, MEMBER_ROLE FROM performance_schema.replication_group_members";
const RECOVERY = "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery'";

/**
 * Three servers of MySQL's Group Replication, one of which is the primary; the others only read, and choose another one
 * when it is lost. They run below the folder that `FERMATA_TEST_MYSQL_ROOT` names. The caller closes them.
 */
export class MysqlGroup {
  private constructor(readonly nodes: readonly PrivateMysql[]) {}

  static async start(count = 3): Promise<MysqlGroup> {
    const places: string[] = [];
    while (places.length < count) places.push(`127.0.0.1:${await freePort()}`);
    const name = randomUUID();
    const nodes: PrivateMysql[] = [];
    try {
      for (const place of places) nodes.push(await startPrivateMysql(optionsOf(name, place, places)));
      const group = new MysqlGroup(nodes);
      for (const [index, node] of nodes.entries()) {
        await query(node.server, RECOVERY);
        // The first begins the group.
        if (index === 0) await query(node.server, "SET GLOBAL group_replication_bootstrap_group = ON");
        await group.join(node);
        if (index === 0) await query(node.server, "SET GLOBAL group_replication_bootstrap_group = OFF");
      }
      return group;
    } catch (error) {
      for (const node of nodes) await node.close();
      throw error;
    }
  }

  /** The URL of a database for all servers, that of this index first. */
  url(database: string, first = 0): string {
    const nodes = [...this.nodes.slice(first), ...this.nodes.slice(0, first)];
    return `mysql://root@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${database}`;
  }

  /** @throws {Error} there is none that this server knows */
  async primary(askedOf: PrivateMysql): Promise<PrivateMysql> {
    const members = await query<Member>(askedOf.server, MEMBERS);
    const found = members.find(
      ({ MEMBER_ROLE, MEMBER_STATE }) => MEMBER_ROLE === "PRIMARY" && MEMBER_STATE === "ONLINE",
    );
    const node = this.nodes.find(({ port }) => port === found?.MEMBER_PORT);
    if (node === undefined) throw new Error(`There is no primary: ${JSON.stringify(members)}`);
    return node;
  }

  /** Has a server that runs join the others again, also after they have expelled it. */
  async join({ server }: PrivateMysql): Promise<void> {
    await query(server, "STOP GROUP_REPLICATION");
    await query(server, "START GROUP_REPLICATION");
  }

  /** Resolves when all servers see each other and have the same; those that were expelled join again. */
  async ready(): Promise<void> {
    for (const node of this.nodes)
      await eventually(async () => {
        const members = await query<Member>(node.server, MEMBERS);
        const own = members.find(({ MEMBER_PORT }) => MEMBER_PORT === node.port);
        if (own === undefined || own.MEMBER_STATE === "ERROR" || own.MEMBER_STATE === "OFFLINE") await this.join(node);
        const isWell = members.filter(({ MEMBER_STATE }) => MEMBER_STATE === "ONLINE").length === this.nodes.length;
        if (!isWell) throw new Error(`${node.server} sees ${JSON.stringify(members)}.`);
      }, JOIN_MS);
    const primary = await this.primary(this.nodes[0] as PrivateMysql);
    const [row] = await query<{ readonly executed: string }>(
      primary.server,
      "SELECT @@GLOBAL.gtid_executed AS executed",
    );
    for (const { server } of this.nodes)
      await query(server, "SELECT WAIT_FOR_EXECUTED_GTID_SET(?)", [row?.executed ?? ""]);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
  }
}

/** @param places where the members speak with each other */
function optionsOf(group: string, place: string, places: readonly string[]): string[] {
  const ofGroup: Readonly<Record<string, string>> = {
    group_name: group,
    local_address: place,
    group_seeds: places.join(","),
    start_on_boot: "OFF",
    // One that is silent for 5 s is suspected; by default the others then wait for 5 s more.
    member_expel_timeout: "0",
    // One that sees less than half of the others gives up, instead of waiting for them for good.
    unreachable_majority_timeout: "5",
    recovery_get_public_key: "ON",
  };
  return [
    ...["--log-bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--plugin-load-add=group_replication.so"],
    ...[`--server-id=${1 + places.indexOf(place)}`, "--report-host=127.0.0.1"],
    ...Object.entries(ofGroup).map(
      ([name, value]) => `--loose-group-replication-${name.replaceAll("_", "-")}=${value}`,
    ),
  ];
}
