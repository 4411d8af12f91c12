import type { MemoryAudioStore } from "../doubles/memory-audio-store.js";
import type { Demand } from "./clients.js";
import type { MemoryDatabase } from "../memory-database.js";
import type { Receivers } from "./receivers.js";
import { bytesOf, type Vendor } from "./vendor.js";

export interface EndOfRun {
  readonly database: MemoryDatabase;
  readonly vendor: Vendor;
  readonly receivers: Receivers;
  readonly audio: MemoryAudioStore;
  readonly demands: readonly Demand[];
}

/** What was bought, and what customers got of it. */
export interface Count {
  readonly jobs: number;
  readonly bought: number;
  readonly delivered: number;
  /** Of what was not delivered: what the provider itself lost or a customer cancelled. */
  readonly excused: number;
}

interface EndedJob {
  readonly id: string;
  readonly status: string;
  readonly request: string;
}

function demandNumberOf({ request }: Pick<EndedJob, "request">): number {
  return (JSON.parse(request) as { readonly metadata: { readonly demand: number } }).metadata.demand;
}

/** The number of the demand that a job is of. */
export function demandOf(database: MemoryDatabase, jobId: string): number {
  const [job] = database.all<EndedJob>("SELECT * FROM fermata_jobs WHERE id = ?", jobId);
  if (job === undefined) throw new Error(`A provider was asked for ${jobId}, which there is none of.`);
  return demandNumberOf(job);
}

/** Work that is not over; empty when nothing is left to do. */
export function leftToDo(database: MemoryDatabase): readonly string[] {
  const jobs = database.all<{ what: string }>(
    "SELECT 'job ' || id || ' is ' || phase AS what FROM fermata_jobs WHERE phase <> 'ended'",
  );
  const deliveries = database.all<{ what: string }>(
    "SELECT 'delivery ' || id || ' is due' AS what FROM fermata_webhook_deliveries WHERE state = 'pending'",
  );
  return [...jobs, ...deliveries].map(({ what }) => what);
}

/**
 * Compares the history of the clients, the provider and the receivers with the rows.
 *
 * @throws {Error} naming what differs
 */
export async function checkEnd({ database, vendor, receivers, audio, demands }: EndOfRun): Promise<Count> {
  const jobs = database.all<EndedJob>("SELECT * FROM fermata_jobs ORDER BY id");
  // A demand that was refused may have a job all the same: another request of it was taken later.
  const jobOf = new Map(jobs.map((job) => [demandNumberOf(job), job]));
  if (jobOf.size !== jobs.length) throw new Error(`a key has two jobs, of ${jobs.length} jobs`);
  for (const { number, end, jobIds } of demands) {
    const [id] = jobIds;
    const job = jobOf.get(number);
    if (id !== undefined && job?.id !== id)
      throw new Error(`demand ${number} was acknowledged as ${id}, and is ${job?.id}`);
    if (end !== null && job?.status !== end) throw new Error(`demand ${number} was seen ${end}, and is ${job?.status}`);
  }
  checkDeliveries(database, receivers);
  return checkPurchases({ database, vendor, audio }, jobs);
}

function checkDeliveries(database: MemoryDatabase, receivers: Receivers): void {
  const deliveries = database.all<{
    event: string;
    state: string;
    url: string;
  }>(`SELECT d.event_id AS event, d.state, p.url FROM fermata_webhook_deliveries d
       JOIN fermata_webhook_endpoints p ON p.id = d.endpoint_id`);
  for (const { event, state, url } of deliveries) {
    if (state !== "delivered" || receivers.taken.get(url)?.has(event) !== true)
      throw new Error(`the event ${event} is ${state}, and ${url} has it: ${receivers.taken.get(url)?.has(event)}`);
  }
}

async function checkPurchases(
  { database, vendor, audio }: Pick<EndOfRun, "database" | "vendor" | "audio">,
  jobs: readonly EndedJob[],
): Promise<Count> {
  const files = database.all<{ job_id: string; audio_key: string }>(`SELECT t.job_id, a.audio_key FROM fermata_tracks t
       JOIN fermata_track_assets a ON a.track_id = t.id AND a.role = 'mix' WHERE t.job_id IS NOT NULL
       UNION ALL SELECT job_id, audio_key FROM fermata_job_outputs`);
  let [delivered, excused] = [0, 0];
  for (const job of jobs) {
    const own = vendor.works.filter((work) => work.jobId === job.id);
    const keys = files.filter((one) => one.job_id === job.id).map((file) => file.audio_key);
    const played = new Set(await Promise.all(keys.map((key) => textOf(audio, key))));
    const used = own.filter((work) => played.has(new TextDecoder().decode(bytesOf(work))));
    if (job.status === "completed" && (used.length !== 1 || played.size !== 1))
      throw new Error(
        `${job.id} is completed with ${[...played].join()}, but was bought as ${own.map(({ id }) => id).join()}`,
      );
    delivered += used.length;
    for (const work of own.filter((one) => !used.includes(one))) {
      if (!vendor.isExcused(work))
        throw new Error(`waste: ${work.id} of ${work.provider} was bought for ${job.id}, which is ${job.status}`);
      excused += 1;
    }
  }
  return { jobs: jobs.length, bought: vendor.works.length, delivered, excused };
}

async function textOf(audio: MemoryAudioStore, key: string): Promise<string> {
  let text = "";
  for await (const bytes of audio.read(key)) text += new TextDecoder().decode(bytes);
  return text;
}
