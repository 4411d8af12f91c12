import { existsSync } from "node:fs";
import { join } from "node:path";
import { CRASHES_MAX } from "../../../core/attempts/policy.js";
import { CallRecording } from "../plugins/recording/call-recording.js";
import { QUERIES } from "../simulation/instant-checks.js";
import type { CrashDatabase } from "./database.js";
import type { Receiver } from "./receiver.js";
import type { History } from "./scenario.js";

/** What the simulation checks of its own providers. */
const LEFT_OUT = /^one attempt at most is open/;

const NONE = /^$/;

export interface RunToCheck {
  readonly database: CrashDatabase;
  readonly dataDir: string;
  readonly history: History;
  readonly receiver: Receiver;
}

/** What is left to do; empty when nothing is. */
export async function leftToDo({ all }: CrashDatabase): Promise<string[]> {
  const rows = await all<{ what: string }>(
    `SELECT CONCAT('job ', id, ' is ', phase) AS what FROM fermata_jobs WHERE phase <> 'ended' UNION ALL
     SELECT CONCAT('delivery ', id, ' is due') FROM fermata_webhook_deliveries WHERE state = 'pending'`,
  );
  return rows.map(({ what }) => what);
}

/** @param leftOut names of further invariants that do not hold of this run */
export async function brokenInvariants({ all }: CrashDatabase, leftOut = NONE): Promise<string[]> {
  const found: string[] = [];
  for (const [name, query] of Object.entries(QUERIES)) {
    if (LEFT_OUT.test(name) || leftOut.test(name)) continue;
    for (const { subject } of await all<{ subject: string }>(query)) found.push(`${name}: ${subject}`);
  }
  return found;
}

/** @returns what is wrong after a run in which everything has ended, a line each */
export async function violationsOf(run: RunToCheck): Promise<string[]> {
  const found = [...run.history.differences, ...(await leftToDo(run.database))];
  found.push(...(await brokenInvariants(run.database)));
  return [...found, ...(await jobViolations(run)), ...(await fileViolations(run)), ...(await eventViolations(run))];
}

interface JobRow {
  readonly id: string;
  readonly status: string;
  readonly crashes: number;
}

/** Each key has one job, which ended as it had to, and was bought once. */
async function jobViolations({ database, dataDir, history }: RunToCheck): Promise<string[]> {
  const jobs = await database.all<JobRow>("SELECT id, status, crashes FROM fermata_jobs");
  const bought = new CallRecording(recordingFile(dataDir)).read();
  const found: string[] = [];
  if (jobs.length !== history.jobs.length) found.push(`${history.jobs.length} keys have ${jobs.length} jobs`);
  for (const { key, id, expected, end } of history.jobs) {
    const job = jobs.find((one) => one.id === id);
    if (job?.status !== end) found.push(`${key} (${id}) was seen ${end}, and is ${job?.status}`);
    const attempts = bought.filter(({ jobId }) => jobId === id);
    // What the provider refuses for now is not bought.
    const isRefused = key === "refusing";
    // Each of several processes in a row may fail at the same job, which then counts as the cause if it buys nothing.
    const isGivenUp = end === "failed" && (job?.crashes ?? 0) > CRASHES_MAX && (isRefused || attempts.length === 0);
    if (expected !== null && end !== expected && !isGivenUp)
      found.push(`${key} (${id}) is ${end} instead of ${expected}`);
    const most = isRefused ? 2 : 1;
    const least = expected === null || isGivenUp ? 0 : 1;
    if (attempts.length > most || attempts.length < least)
      found.push(`${key} (${id}) was bought ${attempts.length} times`);
  }
  return found;
}

async function fileViolations({ database, dataDir }: RunToCheck): Promise<string[]> {
  const assets = await database.all<{ audio_key: string }>("SELECT audio_key FROM fermata_track_assets");
  const missing = assets.filter(({ audio_key }) => !existsSync(join(dataDir, "audio", audio_key)));
  return missing.map(({ audio_key }) => `the file ${audio_key} is missing`);
}

async function eventViolations({ database, receiver }: RunToCheck): Promise<string[]> {
  const events = await database.all<{ id: string }>("SELECT id FROM fermata_webhook_events");
  return events.filter(({ id }) => !receiver.events.has(id)).map(({ id }) => `${id} did not arrive`);
}

export function recordingFile(dataDir: string): string {
  return join(dataDir, "recording");
}
