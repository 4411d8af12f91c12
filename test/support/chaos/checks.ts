import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ApiClient, dataOf } from "../api-client.js";
import type { Environment, Sandbox } from "../process.js";
import type { Caller, Demand } from "./clients.js";
import type { Rows } from "./rows.js";

/** The credits of every caller of a chaos test. */
export const GRANTED = 100_000;

/** Accounts of tier pro with so many monthly credits, created by the command line. */
export async function createCallers(
  sandbox: Sandbox,
  dataDir: string,
  settings: Environment,
  count: number,
  credits = GRANTED,
): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (let index = 0; index < count; index++) {
    const create = [
      "accounts",
      "create",
      `caller ${index}`,
      "--tier",
      "pro",
      "--accept-terms",
      "--credits",
      String(credits),
    ];
    const { id } = await sandbox.json<{ id: string }>(create, dataDir, settings);
    callers.push({
      accountId: id,
      key: (await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir, settings)).key,
    });
  }
  return callers;
}

/** Every caller has paid for the completed jobs that it saw, and for nothing else. */
export async function checkCredits(url: string, callers: readonly Caller[], demands: readonly Demand[]): Promise<void> {
  for (const caller of callers) {
    const charged = demands
      .filter((demand) => demand.caller === caller)
      .reduce((sum, { end }) => sum + (end?.credits_charged ?? 0), 0);
    const credits = dataOf(await new ApiClient(url, caller.key).get("/api/v1/credits"));
    expect(credits).to.deep.equal({
      available: GRANTED - charged,
      monthly_credits: GRANTED - charged,
      pack_credits: 0,
      total_spent: charged,
    });
  }
}

/** `fermata ledger verify` finds nothing. */
export async function checkLedger(sandbox: Sandbox, dataDir: string, settings: Environment): Promise<void> {
  expect(await sandbox.json(["ledger", "verify"], dataDir, settings)).to.deep.include({ ok: true, violations: [] });
}

/** Each demand has become one job, and each job has ended once. */
export function checkJobs(rows: Rows, demands: readonly Demand[]): void {
  expect(rows.jobs.map(({ id }) => id).sort(), "one job per key").to.deep.equal(
    demands.map(({ jobId }) => jobId).sort(),
  );
  const ends = new Map(demands.map(({ jobId, end }) => [jobId, end]));
  for (const job of rows.jobs) {
    expect(job, "an ended job").to.include({ lease_owner: null, due_at: null, phase: "ended" });
    const isCompleted = job.status === "completed";
    expect(ends.get(job.id), `what was seen of ${job.id}`).to.include({
      status: job.status,
      credits_charged: job.credits_charged,
    });
    const phases = rows.entries.filter((entry) => entry.job_id === job.id).map(({ kind }) => kind);
    expect(phases, `ledger of ${job.id}`).to.deep.equal(["reserve", isCompleted ? "charge" : "refund"]);
    const attempts = rows.attempts.filter((attempt) => attempt.job_id === job.id);
    expect(
      attempts.map(({ number }) => number),
      `attempts of ${job.id}`,
    ).to.deep.equal(attempts.map((_, index) => index + 1));
    expect(attempts, `attempts of ${job.id}`).to.have.length(job.attempt);
    const completed = attempts.filter(({ outcome }) => outcome === "completed");
    // Of a failed job only the last: its worker was lost with the provider's result, which cannot be requested again.
    if (isCompleted) expect(completed, `completed attempts of ${job.id}`).to.have.length(1);
    else
      expect(completed, `completed attempts of ${job.id}`).to.deep.equal(
        attempts.slice(-1).filter((attempt) => completed.includes(attempt)),
      );
    const tracks = rows.tracks.filter((track) => track.job_id === job.id);
    expect(tracks, `tracks of ${job.id}`).to.have.length(isCompleted ? 1 : 0);
  }
  for (const balance of rows.balances) {
    expect(balance, "a balance").to.include({ running_jobs: 0, reserved_monthly: 0, reserved_pack: 0 });
  }
}

/** Every file of a track exists. */
export async function checkAudio(rows: Rows, dataDir: string): Promise<void> {
  for (const { audio_key } of rows.assets)
    expect((await stat(join(dataDir, "audio", audio_key))).size, audio_key).to.be.above(0);
}
