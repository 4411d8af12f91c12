import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { RabbitmqJobQueue } from "../../../adapters/queue/rabbitmq/job-queue.js";
import { dataOf } from "../../support/api-client.js";
import { aNotification } from "../../support/builders.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";
import { eventually } from "../../support/rabbitmq.js";
import { RabbitmqCluster } from "../../support/rabbitmq-cluster.js";
import { startTestApp } from "../../support/test-app.js";

/** Between two notifications, and between two requests. */
const NOTIFY_MS = 20;
const REQUEST_MS = 100;

/** How long a test goes on after a node was killed. */
const AFTER_MS = 8_000;

const SWEEP_MS = 5_000;

/** What a job of the scripted provider takes in addition to the wait for a worker, on a busy machine. */
const WORK_MS = 2_000;

describe("Three nodes of RabbitMQ, one of which is killed", function () {
  this.timeout(600_000);

  let cluster: RabbitmqCluster;
  before(async () => {
    cluster = await RabbitmqCluster.start();
  });
  after(() => cluster.close());

  it("pass notifications on again before the sweep would find the jobs, whichever it is", async () => {
    const logger = new RecordingLogger();
    const [from, to] = [
      await RabbitmqJobQueue.open({ url: cluster.url, logger }),
      await RabbitmqJobQueue.open({ url: cluster.url, logger }),
    ];
    try {
      let receivedAt = 0;
      let longest = 0;
      await to.listen("synth", async () => {
        const now = performance.now();
        longest = Math.max(longest, now - receivedAt);
        receivedAt = now;
      });
      for (const node of cluster.nodes) {
        await eventually(async () => Promise.all([from.check(), to.check()]), 60_000);
        [receivedAt, longest] = [performance.now(), 0];
        await notifyFor(from, 1_000);
        await node.kill();
        await notifyFor(from, AFTER_MS);
        const pause = Math.round(Math.max(longest, performance.now() - receivedAt));
        process.stdout.write(`      ${pause} ms without a notification after a node was killed\n`);
        expect(pause).to.be.below(SWEEP_MS);
        await node.start();
      }
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
  });

  it("leave no job slower than the sweep", async () => {
    const settings = { queue: { url: cluster.url }, jobs: { sweepMs: SWEEP_MS } };
    const test = await startTestApp({ work: true, settings });
    try {
      const { api } = await test.account({ credits: 100_000 });
      await eventually(async () => expect((await test.anonymous.get("/readyz")).json).to.deep.equal({ status: "ok" }));
      const ids: string[] = [];
      for (const node of cluster.nodes) {
        const killed = sleep(1_000).then(() => node.kill());
        const until = performance.now() + AFTER_MS;
        while (performance.now() < until) {
          const response = await api.generate();
          expect(response.status, response.text).to.equal(202);
          ids.push(dataOf<{ readonly id: string }>(response).id);
          await sleep(REQUEST_MS);
        }
        await killed;
        await node.start();
      }
      const took: number[] = [];
      for (const id of ids)
        await eventually(async () => {
          const job = dataOf<{ status: string; created_at: string; completed_at: string }>(
            await api.get(`/api/v1/jobs/${id}`),
          );
          expect(job.status).to.equal("completed");
          took.push(Date.parse(job.completed_at) - Date.parse(job.created_at));
        });
      const slowest = Math.max(...took);
      const swept = took.filter((ms) => ms > 1_000).length;
      process.stdout.write(`      ${ids.length} jobs, the slowest in ${slowest} ms, ${swept} of them over 1 s\n`);
      expect(slowest).to.be.below(SWEEP_MS + WORK_MS);
      expect(test.provider.submissions).to.have.lengthOf(ids.length);
    } finally {
      await test.close();
    }
  });
});

async function notifyFor(queue: RabbitmqJobQueue, ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    queue.notify([aNotification()]);
    await sleep(NOTIFY_MS);
  }
}
