import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { createMigratedMysqlDatabase } from "../../support/mysql.js";
import { gateFile, gateRecordingProvider } from "../../support/plugins/gate/index.js";
import { type Environment, eventually, type FermataProcess, filesUnder, useSandbox } from "../../support/process.js";
import { openQueueSpace } from "../../support/rabbitmq.js";
import { type JobRow, readMysqlRows, readRows, type Rows } from "../../support/chaos/rows.js";

const LEASE_MS = 2_000;

interface Stack {
  readonly settings: Environment;
  rows(): Promise<Rows>;
  clear(): Promise<void>;
}

const STACKS: readonly { readonly name: string; open(dataDir: string): Promise<Stack> }[] = [
  {
    name: "SQLite",
    open: async (dataDir) => ({ settings: {}, rows: async () => readRows(dataDir), clear: () => Promise.resolve() }),
  },
  {
    name: "MySQL and RabbitMQ",
    async open() {
      const [database, queues] = await Promise.all([createMigratedMysqlDatabase(), openQueueSpace()]);
      return {
        settings: { FERMATA_STORAGE__URL: database.url, FERMATA_QUEUE__URL: queues.url },
        rows: () => readMysqlRows(database.url),
        async clear() {
          await database.drop();
          await queues.clear("gate");
        },
      };
    },
  },
];

for (const { name, open } of STACKS) {
  describe(`A worker and its successor on ${name}`, function () {
    this.timeout(90_000);

    let stack: Stack;
    let dataDir: string;
    let settings: Environment;
    let api: ApiClient;
    // Runs before the processes of the sandbox are ended.
    const sandbox = useSandbox();
    afterEach(() => stack.clear());

    beforeEach(async () => {
      dataDir = await sandbox.dataDir();
      stack = await open(dataDir);
      settings = {
        ...stack.settings,
        FERMATA_JOBS__LEASE_SECONDS: String(LEASE_MS / 1000),
        FERMATA_JOBS__SWEEP_MS: "100",
        FERMATA_DEMO__ENABLED: "false",
        FERMATA_PLUGINS__SYNTH__ENABLED: "false",
        FERMATA_PLUGINS__GATE__ENABLED: "true",
        FERMATA_PLUGINS__GATE__USE: fileURLToPath(new URL("../../support/plugins/gate/index.js", import.meta.url)),
        FERMATA_PLUGINS__GATE__FOLDER: dataDir,
      };
      await sandbox.json(["migrate"], dataDir, settings);
      const create = ["accounts", "create", "Nightingale Radio", "--tier", "pro", "--accept-terms", "--credits", "100"];
      const { id } = await sandbox.json<{ id: string }>(create, dataDir, settings);
      const { key } = await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir, settings);
      api = new ApiClient(await sandbox.call(["serve"], dataDir, settings).listening(), key);
    });

    async function startWorker(): Promise<FermataProcess> {
      const worker = sandbox.spawn(["work"], dataDir, settings);
      await worker.line(/^working$/m);
      return worker;
    }

    const theJob = async (): Promise<JobRow> => (await stack.rows()).jobs[0] as JobRow;
    const submissions = (): number => gateRecordingProvider(dataDir).read().length;
    const openGate = (attempt: number): Promise<void> => writeFile(gateFile(dataDir, attempt), "");

    /** A job that a worker has submitted and cannot finish before its gate is open. */
    async function submitted(modelId: string): Promise<JobRow> {
      expect((await api.generate({ model_id: modelId, prompt: "rain" })).status).to.equal(202);
      await eventually("a submission", () => submissions() === 1);
      return theJob();
    }

    const isCompleted = async (): Promise<boolean> => (await theJob()).status === "completed";

    /** The job was rendered once, is paid for once, and its tracks name all the files that exist. */
    async function checkEnd(rows: Rows, outcomes: readonly (string | null)[]): Promise<void> {
      expect(rows.jobs).to.have.length(1);
      expect(rows.jobs[0]).to.include({
        status: "completed",
        phase: "ended",
        lease_owner: null,
        due_at: null,
        credits_charged: 10,
      });
      expect(rows.attempts.map(({ outcome }) => outcome)).to.deep.equal(outcomes);
      expect(rows.entries.map(({ kind }) => kind)).to.deep.equal(["grant", "reserve", "charge"]);
      expect(rows.tracks).to.have.length(1);
      expect(await filesUnder(join(dataDir, "audio"))).to.deep.equal(rows.assets.map(({ audio_key }) => audio_key));
      expect(dataOf(await api.get("/api/v1/credits"))).to.include({ available: 90, total_spent: 10 });
      expect(await sandbox.json(["ledger", "verify"], dataDir, settings)).to.deep.include({ ok: true, violations: [] });
    }

    it("a worker whose event loop is blocked for several leases keeps its job, and finishes it", async () => {
      await startWorker();
      const before = await submitted("gate/blocking");
      await startWorker();
      const isOver = ({ fence, due_at }: JobRow): boolean =>
        fence !== before.fence || (due_at ?? 0) > (before.due_at ?? 0) + 3 * LEASE_MS;
      const during = await eventually(
        "the lease is renewed for longer than three leases, or lost",
        async () => {
          const job = await theJob();
          return isOver(job) && job;
        },
        30_000,
      );
      expect(during).to.deep.equal({ ...before, due_at: during.due_at });
      await openGate(1);
      await eventually("completed", isCompleted);
      const rows = await stack.rows();
      await checkEnd(rows, ["completed"]);
      expect(rows.jobs[0]).to.include({ crashes: 0, attempt: 1 });
      expect(submissions()).to.equal(1);
    });

    it("a killed worker loses its job to the one that polls meanwhile", async () => {
      const killed = await startWorker();
      await submitted("gate/waiting");
      await startWorker();
      await openGate(2);
      await killed.kill();
      await eventually("completed", isCompleted);
      const rows = await stack.rows();
      await checkEnd(rows, [null, "completed"]);
      expect(rows.jobs[0]).to.include({ crashes: 1, attempt: 2 });
    });

    for (const [model, when] of [
      ["waiting", "while it waits for its provider"],
      ["streaming", "while it stores what it was given"],
    ] as const) {
      it(`a worker stopped ${when} and resumed after its lease writes nothing, and leaves nothing`, async () => {
        const stopped = await startWorker();
        const { id } = await submitted(`gate/${model}`);
        const audio = join(dataDir, "audio");
        if (model === "streaming")
          await eventually("a file that grows", async () =>
            (await filesUnder(audio)).some((file) => file.startsWith(".incoming/")),
          );
        // Right after a renewal: a process that is suspended inside of SQLite's lock would block all others.
        const { due_at } = await theJob();
        await eventually("a renewal", async () => (await theJob()).due_at !== due_at);
        stopped.signal("SIGSTOP");

        await startWorker();
        await eventually("the successor has submitted it", () => submissions() === 2);
        if (model === "streaming") {
          await eventually("the successor collects it", async () => (await theJob()).collections_begun === 2);
        }
        const rows = withoutLeaseEnds(await stack.rows());
        expect(rows.jobs[0]).to.include({ fence: 2, crashes: 1, phase: "submitting" });
        stopped.signal("SIGCONT");
        // Before it does, it may still deliver the result that arrived meanwhile: it was bought.
        await eventually("it has noticed", () => /The lease on a job is lost/.test(stopped.stdout + stopped.stderr));
        await openGate(1);
        // It finishes its running jobs before it ends.
        expect(await stopped.stop()).to.equal(0);
        expect(withoutLeaseEnds(await stack.rows())).to.deep.equal(rows);
        expect(await filesUnder(join(audio, id, "1")).catch(() => [])).to.deep.equal([]);

        await openGate(2);
        await eventually("completed", isCompleted);
        await checkEnd(await stack.rows(), [null, "completed"]);
        expect(submissions()).to.equal(2);
      });
    }
  });
}

/** Renewals continue meanwhile. */
function withoutLeaseEnds(rows: Rows): Rows {
  return { ...rows, jobs: rows.jobs.map((job) => ({ ...job, due_at: null })) };
}
