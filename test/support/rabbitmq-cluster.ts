import { randomBytes } from "node:crypto";
import { makePrivateBroker, openQueueSpace, type PrivateBroker, type QueueSpace } from "./rabbitmq.js";

/** By default a quorum queue notices after 5 s that the node of its leader is gone. */
const NOTICE = "-aten poll_interval 200";

/** Three nodes of RabbitMQ on this machine, in one cluster. The caller closes them. */
export class RabbitmqCluster {
  private constructor(
    readonly nodes: readonly PrivateBroker[],
    readonly space: QueueSpace,
  ) {}

  static async start(count = 3): Promise<RabbitmqCluster> {
    const cookie = randomBytes(10).toString("hex").toUpperCase();
    const nodes: PrivateBroker[] = [];
    try {
      for (let index = 0; index < count; index++) nodes.push(await makePrivateBroker({ cookie, arguments: NOTICE }));
      for (const node of nodes) await node.start();
      const [first, ...others] = nodes as [PrivateBroker, ...PrivateBroker[]];
      for (const other of others) {
        await other.control("stop_app");
        await other.control("join_cluster", first.node);
        await other.control("start_app");
      }
      return new RabbitmqCluster(nodes, await openQueueSpace(first.server));
    } catch (error) {
      await Promise.all(nodes.map((node) => node.remove()));
      throw error;
    }
  }

  /** In the form of `queue.url`. */
  get url(): string {
    return this.space.through(this.nodes.map(({ server }) => new URL(server).host).join(","));
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.remove()));
  }
}
