import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { leftToDo } from "../crashes/checks.js";
import type { Purchase } from "../vendor/index.js";
import type {
  BoughtWork,
  Endpoint,
  FinalJob,
  FinalState,
  LedgerRow,
  ReceivedEvent,
  StoredEvent,
} from "./final-state.js";
import type { Fleet } from "./fleet.js";
import { grouped } from "./rules/rule.js";

const JOBS = `SELECT id, account_id AS accountId, COALESCE(client, '') AS \`key\`, status,
  credits_charged AS charged, created_at AS createdAt FROM fermata_jobs ORDER BY id`;
const ENTRIES = `SELECT account_id AS accountId, seq, kind, job_id AS jobId, external_ref AS reference,
  monthly + pack AS available, spent FROM fermata_ledger_entries ORDER BY account_id, seq`;
const EVENTS = "SELECT id, job_id AS jobId, type FROM fermata_webhook_events WHERE job_id IS NOT NULL";
/** The files of a split, and the music of a generation. */
const OUTPUTS = `SELECT job_id AS jobId, audio_key AS audioKey FROM fermata_job_outputs UNION ALL
  SELECT t.job_id, a.audio_key FROM fermata_tracks t
  JOIN fermata_track_assets a ON a.track_id = t.id AND a.role = 'mix' WHERE t.job_id IS NOT NULL`;

/** The jobs that have not ended, with all that says why. */
const OPEN_JOBS = `SELECT CONCAT('job ', j.id, ' of ', j.provider_id, ' is ', j.phase,
    ', due in ', COALESCE(j.due_at - ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000), 'no'), ' ms, fence ', j.fence,
    ', lease of ', COALESCE(j.lease_owner, 'none'), ', collections ', COALESCE(j.collections_begun, 0),
    ', attempts ', COALESCE(GROUP_CONCAT(CONCAT(a.number, ' ', COALESCE(a.state, ''), ' ', COALESCE(a.outcome, ''), ' ',
      COALESCE(a.message, '')) SEPARATOR '; '), 'none')) AS what
  FROM fermata_jobs j LEFT JOIN fermata_job_attempts a ON a.job_id = j.id WHERE j.phase <> 'ended' GROUP BY j.id`;

/** What is left to do, a line each; empty when nothing is. */
export async function leftIn({ database, vendor }: Fleet): Promise<string[]> {
  const jobs = await database.all<{ readonly what: string }>(OPEN_JOBS);
  const deliveries = (await leftToDo(database)).filter((what) => what.startsWith("delivery"));
  const stateOf = (what: string): string =>
    vendor.vendor.purchases
      .flatMap(({ id, jobId, state }) => (what.includes(`${jobId}`) ? [`${id} is ${state}`] : []))
      .join();
  return [...jobs.map(({ what }) => `${what}; at the vendor: ${stateOf(what)}`), ...deliveries];
}

/** What there is when the processes have ended. */
export async function readFinalState(
  fleet: Fleet,
  endpoints: readonly Endpoint[],
  left: readonly string[],
): Promise<FinalState> {
  const { database, vendor, receivers } = fleet;
  const received = receivers.flatMap(({ receiver, relay }) =>
    receiver.received.map(({ path, eventId, body, status }): ReceivedEvent => {
      const { type, data } = JSON.parse(body) as EventBody;
      const url = `http://${relay.address}${path}`;
      return { url, eventId, type, jobId: data.job_id, jobStatus: data.status, isTaken: status < 300 };
    }),
  );
  return {
    jobs: await database.all<FinalJob>(JOBS),
    entries: await database.all<LedgerRow>(ENTRIES),
    events: await database.all<StoredEvent>(EVENTS),
    purchases: await boughtWork(fleet, vendor.vendor.purchases),
    endpoints,
    received,
    left,
  };
}

interface EventBody {
  readonly type: string;
  readonly data: { readonly job_id: string; readonly status: string };
}

/** Work is delivered when all files of its job are what the vendor made for it. */
async function boughtWork({ database, dataDir }: Fleet, purchases: readonly Purchase[]): Promise<BoughtWork[]> {
  const outputs = grouped(
    await database.all<{ readonly jobId: string; readonly audioKey: string }>(OUTPUTS),
    ({ jobId }) => jobId,
  );
  const works: BoughtWork[] = [];
  for (const { id, jobId, audio, state } of purchases) {
    const files = jobId === null ? [] : (outputs.get(jobId) ?? []);
    const digests = await Promise.all(
      files.map(async ({ audioKey }) => digestOf(await readFile(join(dataDir, "audio", audioKey)))),
    );
    const isDelivered = digests.length > 0 && digests.every((digest) => digest === digestOf(audio));
    works.push({ id, jobId, state, isDelivered });
  }
  return works;
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
