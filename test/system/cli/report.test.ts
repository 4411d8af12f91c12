import { expect } from "chai";
import type { Job, JobAttempt } from "../../../core/jobs/job.js";
import { aJob, anAttempt, NOON } from "../../support/builders.js";
import { type SqliteUnderTest, sqliteStorage } from "../../support/databases.js";
import { Sandbox } from "../../support/process.js";

const DAY_MS = 86_400_000;
const USD = { amount: 0.12, unit: "USD" };
const [COMPLETED, FAILED] = ["completed", "failed"] as const;
const LATEST = ["--from", "2026-11-20", "--to", "2026-12-01"];

/** A job, created at noon of a day, and its attempts: what each was, and at which provider. */
interface Given {
  readonly status: typeof COMPLETED | typeof FAILED;
  readonly attempts: readonly Partial<JobAttempt>[];
  readonly days?: number;
  readonly times?: number;
}

const accepted = (at: number): Partial<JobAttempt> => ({
  acceptedAt: at,
  cost: USD,
  billable: "yes",
  outcome: "completed",
});
const settled = { ...accepted(NOON), state: "settled" } as const;

const JOBS: readonly Given[] = [
  { status: COMPLETED, attempts: [{ ...settled, providerId: "elevenlabs" }], times: 214 },
  {
    status: COMPLETED,
    attempts: [{ ...settled, providerId: "replicate", acceptedAt: NOON + DAY_MS }],
    times: 38,
    days: 1,
  },
  {
    status: COMPLETED,
    attempts: [
      { providerId: "replicate", state: "refused", outcome: "unavailable", billable: "no" },
      { ...settled, providerId: "elevenlabs" },
    ],
  },
  {
    status: FAILED,
    attempts: [{ ...accepted(NOON), providerId: "elevenlabs", state: "failed", outcome: "gone", loss: "files_lost" }],
  },
  {
    status: FAILED,
    attempts: [
      { ...accepted(NOON), providerId: "replicate", state: "abandoned", outcome: "accepted", loss: "deadline" },
    ],
    times: 2,
  },
  {
    status: FAILED,
    attempts: [
      { ...accepted(NOON), providerId: "replicate", state: "failed", outcome: "failed", loss: "provider_failed" },
    ],
  },
  {
    status: FAILED,
    attempts: [
      {
        providerId: "replicate",
        state: "abandoned",
        outcome: "outcome_unknown",
        loss: "unknown",
        billable: "unknown",
        cost: USD,
      },
    ],
    days: 1,
  },
];

describe("fermata report margin", function () {
  this.timeout(60_000);
  let sandbox: Sandbox;
  let storage: SqliteUnderTest;
  let dataDir: string;
  before(async () => {
    sandbox = new Sandbox();
    storage = await sqliteStorage.open();
    dataDir = await sandbox.dataDir();
    for (const given of JOBS) await add(given);
  });
  after(async () => {
    await sandbox.clear();
    await storage.close();
  });

  async function add({ status, attempts, days = 0, times = 1 }: Given): Promise<void> {
    const at = NOON + days * DAY_MS;
    const providerId = attempts.at(-1)?.providerId ?? "";
    const jobs = Array.from({ length: times }, (): Job => {
      const charged = status === COMPLETED ? {} : { creditsCharged: 0 };
      return aJob({ providerId, status, phase: "ended", dueAt: null, createdAt: at, completedAt: at, ...charged });
    });
    const tried = jobs.flatMap(({ id: jobId }) =>
      attempts.map((attempt, index) => anAttempt({ jobId, number: index + 1, startedAt: at, ...attempt })),
    );
    await storage.inTransaction(async (tx) => {
      await storage.jobs.insertJobs(tx, jobs);
      await storage.jobs.insertAttempts(tx, tried);
    });
  }

  const env = (): Record<string, string> => ({ FERMATA_STORAGE__URL: storage.url });
  const text = async (...args: readonly string[]): Promise<string> =>
    (await sandbox.command(["report", "margin", ...LATEST, ...args], dataDir, env())).stdout;

  it("shows what each provider was paid for, what was wasted and why, within 80 columns", async () => {
    const [margins, purchases, refunded] = (await text("--limit", "3")).split("\n\n");
    expect(margins?.split("\n")).to.deep.equal([
      "provider    done  failed  credits  billed     perhaps   lost",
      "elevenlabs  215   1       1075     25.92 USD  -         0.12 USD",
      "replicate   38    4       190      4.92 USD   0.12 USD  0.48 USD",
    ]);
    expect(purchases?.split("\n")).to.deep.equal([
      "Attempts that providers accepted, or perhaps:",
      "provider    bought  delivered  wasted  perhaps  why wasted",
      "elevenlabs  216     215        1       0        1 files_lost",
      "replicate   41      38         3       1        2 deadline",
      "                                                1 provider_failed",
    ]);
    const [title, ...attempts] = (refunded ?? "").trimEnd().split("\n");
    expect(title).to.equal("Paid upstream, or perhaps, and refunded below: 5 attempts.");
    expect(attempts).to.have.length(3);
    expect(attempts[0]).to.match(/^job_\w{26} {2}replicate {2}attempt 1 {2}outcome_unknown {2}unknown {2}unknown$/);
    expect(
      [...(margins ?? "").split("\n"), ...(purchases ?? "").split("\n")].filter((line) => line.length > 80),
    ).to.deep.equal([]);
  });

  it("shows the same for each day and provider with --by-day", async () => {
    const [, , days, refunded] = (await text("--by-day", "--limit", "0")).split("\n\n");
    expect(days?.split("\n")).to.deep.equal([
      "By the day of acceptance, in UTC:",
      "day         provider    bought  delivered  wasted  perhaps  why wasted",
      "2026-11-21  elevenlabs  216     215        1       0        1 files_lost",
      "2026-11-21  replicate   3       0          3       0        2 deadline",
      "                                                            1 provider_failed",
      "2026-11-22  replicate   38      38         0       1        -",
    ]);
    expect(refunded).to.equal("Paid upstream, or perhaps, and refunded below: 5 attempts.\n");
  });

  it("has all of it as JSON", async () => {
    const report = await sandbox.json(["report", "margin", ...LATEST, "--limit", "1"], dataDir, env());
    expect(report["providers"]).to.deep.equal([
      {
        ...{ id: "elevenlabs", completed: 215, failed: 1, credits_charged: 1075, attempts: 216 },
        ...{ bought: 216, delivered: 215, wasted: 1, perhaps: 0, reasons: { files_lost: 1 } },
        ...{ billed: { USD: 25.92 }, perhaps_billed: {}, lost: { USD: 0.12 } },
      },
      {
        ...{ id: "replicate", completed: 38, failed: 4, credits_charged: 190, attempts: 43 },
        ...{ bought: 41, delivered: 38, wasted: 3, perhaps: 1, reasons: { deadline: 2, provider_failed: 1 } },
        ...{ billed: { USD: 4.92 }, perhaps_billed: { USD: 0.12 }, lost: { USD: 0.48 } },
      },
    ]);
    const [elevenlabs, replicate] = ["elevenlabs", "replicate"].map((provider) => ({ provider }));
    const reasons = { deadline: 2, provider_failed: 1 };
    expect(report["days"]).to.deep.equal([
      {
        date: "2026-11-21",
        ...elevenlabs,
        bought: 216,
        delivered: 215,
        wasted: 1,
        perhaps: 0,
        reasons: { files_lost: 1 },
      },
      { date: "2026-11-21", ...replicate, bought: 3, delivered: 0, wasted: 3, perhaps: 0, reasons },
      { date: "2026-11-22", ...replicate, bought: 38, delivered: 38, wasted: 0, perhaps: 1, reasons: {} },
    ]);
    const { count, attempts } = report["paid_upstream_refunded_below"] as {
      count: number;
      attempts: readonly object[];
    };
    expect(count).to.equal(5);
    expect(attempts[0]).to.include({
      provider: "replicate",
      outcome: "outcome_unknown",
      loss: "unknown",
      accepted_at: null,
    });
  });

  it("says so when no job ended in the time", async () => {
    const { code, stdout } = await sandbox.command(["report", "margin", "--to", "2001-01-01"], dataDir, env());
    expect([code, stdout]).to.deep.equal([0, "No job ended in this time.\n"]);
  });
});
