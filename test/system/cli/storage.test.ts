import { expect } from "chai";
import type { CheckResult } from "../../../core/ports/self-check.js";
import { aJob, aJobRequest, aLoggedRequest, anAttempt, anIdempotencyRecord } from "../../support/builders.js";
import { sqliteStorage, type SqliteUnderTest } from "../../support/databases.js";
import { mysqlStorage, type MysqlUnderTest } from "../../support/mysql.js";
import { eventually, Sandbox } from "../../support/process.js";

const DAY_MS = 86_400_000;

interface Report {
  readonly bytes: number;
  readonly rows_are_estimates: boolean;
  readonly tables: readonly { readonly name: string; readonly rows: number; readonly rows_per_day: number | null }[];
  readonly due: readonly {
    readonly what: string;
    readonly setting: string;
    readonly rows: number;
    readonly overdue_days: number;
  }[];
  readonly audio: { readonly files: number; readonly bytes: number } | null;
}

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`fermata storage report: ${name}`, function () {
    this.timeout(120_000);
    const sandbox = new Sandbox();
    let storage: SqliteUnderTest | MysqlUnderTest;
    let dataDir: string;
    let env: Readonly<Record<string, string>>;

    before(async () => {
      storage = await open();
      dataDir = await sandbox.dataDir();
      env = { FERMATA_STORAGE__URL: storage.url, FERMATA_DEMO__ENABLED: "false" };
      const now = Date.now();
      const end = { status: "failed", phase: "ended", dueAt: null, creditsCharged: 0 } as const;
      const jobs = [400, 400, 1].map((days) => {
        const createdAt = now - days * DAY_MS;
        const request = aJobRequest({ prompt: "a song of old" });
        return aJob({ ...end, createdAt, completedAt: createdAt, request });
      });
      await storage.inTransaction(async (tx) => {
        await storage.jobs.insertJobs(tx, jobs);
        await storage.jobs.insertAttempts(
          tx,
          jobs.map(({ id }) => anAttempt({ jobId: id, state: "refused", endedAt: now - 800 * DAY_MS })),
        );
        await storage.requestLog.insert(tx, [
          ...[40, 31].map((days) => aLoggedRequest({ createdAt: now - days * DAY_MS })),
          ...Array.from({ length: 14 }, () => aLoggedRequest({ createdAt: now - DAY_MS })),
        ]);
        await storage.idempotency.insertRecords(tx, [anIdempotencyRecord({ expiresAt: now + DAY_MS })]);
      });
    });
    after(async () => {
      await sandbox.clear();
      await storage.close();
    });

    const report = (...args: readonly string[]): Promise<Report> =>
      sandbox.json<Report>(["storage", "report", ...args], dataDir, env);
    const dueRows = async (): Promise<object> =>
      Object.fromEntries((await report()).due.map(({ what, rows }) => [what, rows]));
    const growthCheck = async (): Promise<CheckResult | undefined> => {
      const { json } = await sandbox.command(["doctor", "--json"], dataDir, env);
      return json<{ checks: CheckResult[] }>().checks.find((check) => check.name === "storage growth");
    };

    it("shows sizes, growth, and what is due by which setting", async () => {
      const { bytes, tables, due, audio, rows_are_estimates: areEstimates } = await report();
      expect(bytes).to.be.above(0);
      expect(areEstimates).to.equal(name === "MySQL");
      const log = tables.find((table) => table.name === "request_log");
      expect(log?.rows_per_day).to.equal(2);
      if (!areEstimates) expect(log?.rows).to.equal(16);
      const logDue = due.find(({ what }) => what === "request_log");
      expect(logDue).to.include({ setting: "retention.requestLogDays", rows: 2, overdue_days: 10 });
      expect(await dueRows()).to.deep.equal({
        ...{ idempotency_records: 0, webhook_events: 0, provider_callbacks: 0 },
        ...{ request_log: 2, request_counts: 4, credit_sums: 0, job_requests: 2, job_attempts: 3 },
      });
      expect(audio).to.equal(null);
      expect((await report("--audio")).audio).to.deep.equal({ files: 0, bytes: 0 });
      const { stdout } = await sandbox.command(["storage", "report"], dataDir, env);
      expect(stdout).to.match(/^Database: [\d.]+ \wiB, of which/m);
      expect(stdout).to.match(/^request_log +retention\.requestLogDays +2 +\d{4}-\S+ +10 days$/m);
    });

    it("follows the settings of retention", async () => {
      const longer = { ...env, FERMATA_RETENTION__REQUEST_LOG_DAYS: "35" };
      const { due } = await sandbox.json<Report>(["storage", "report"], dataDir, longer);
      expect(due.find(({ what }) => what === "request_log")?.rows).to.equal(1);
    });

    it("is empty of what is due once a process has worked, and the doctor is content", async () => {
      const before = await growthCheck();
      expect(before).to.include({ result: "warning" });
      expect(before?.message).to.include("request_log (retention.requestLogDays) for 10 days");
      const worker = sandbox.call(["work"], dataDir, env);
      await eventually(
        "all is deleted",
        async () => Object.values(await dueRows()).every((rows) => rows === 0),
        60_000,
      );
      await worker.stop();
      const jobs = await storage.jobs.listJobs({ limit: 10 });
      expect(jobs.map(({ request }) => request.prompt)).to.deep.equal(["a song of old", "", ""]);
      const retried = await sandbox.command(["jobs", "retry", jobs[1]?.id ?? ""], dataDir, env);
      expect(retried.code).to.equal(1);
      expect(retried.stderr).to.include("is not kept any more");
      expect(await growthCheck()).to.include({ result: "ok" });
    });
  });
}
