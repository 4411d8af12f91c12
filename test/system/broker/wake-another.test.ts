import { expect } from "chai";
import { type App, compose, loadSettings } from "../../../config/index.js";
import { temporaryFolder } from "../../support/databases.js";
import { ScriptedProvider, submitHolds } from "../../support/doubles/scripted-provider.js";
import { createMigratedMysqlDatabase } from "../../support/mysql.js";
import { openQueueSpace } from "../../support/rabbitmq.js";

const WORKERS = 4;
const JOBS = 8;

describe("Workers of one slot each, on one broker", function () {
  this.timeout(50_000);

  it("all begin with jobs that one notification stands for, without a sweep", async () => {
    const [database, space] = await Promise.all([createMigratedMysqlDatabase(), openQueueSpace()]);
    const settings = loadSettings({
      env: {},
      cwd: await temporaryFolder(),
      isTerminal: false,
      overrides: {
        storage: { url: database.url },
        queue: { url: space.url },
        http: { port: 0 },
        // Longer than the test.
        jobs: { sweepMs: 60_000, shutdownGraceSeconds: 0.1 },
        logs: { level: "error" },
        plugins: { synth: { enabled: false } },
      },
    });
    const apps: App[] = [];
    const open = async (): Promise<{ readonly app: App; readonly provider: ScriptedProvider }> => {
      const provider = new ScriptedProvider();
      const app = await compose(settings, { plugins: [{ ...provider.definition, concurrency: 1 }] });
      apps.push(app);
      return { app, provider };
    };
    try {
      const { app } = await open();
      const workers = await Promise.all(Array.from({ length: WORKERS }, open));
      const held = submitHolds();
      for (const { provider } of workers) provider.behaviour = held.behaviour;
      await Promise.all(workers.map((worker) => worker.app.work()));
      const { id } = await app.accounts.create({ name: "alice", tier: "pro", acceptTerms: true });
      await app.credits.grant(id, 1_000, { bucket: "pack" });
      const input = { modelId: "scripted/beat", prompt: "rain on a tin roof" };
      await Promise.all(Array.from({ length: JOBS }, () => app.generations.create(id, input)));
      await Promise.all(workers.map(({ provider }) => provider.submitted(1)));
      const submissions = workers.flatMap(({ provider }) => provider.submissions.map(({ jobId }) => jobId));
      expect(new Set(submissions).size).to.equal(WORKERS);
      held.release();
    } finally {
      for (const app of apps) await app.stop();
      await Promise.all([database.drop(), space.clear("scripted")]);
    }
  });
});
