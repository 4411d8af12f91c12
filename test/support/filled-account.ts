import type { AccountId, JobId, TrackId } from "../../core/ids.js";
import type { Job } from "../../core/jobs/job.js";
import type { AudioStore } from "../../core/ports/audio-store.js";
import {
  aHash,
  aJob,
  aJobRequest,
  aLoggedRequest,
  anApiKey,
  anAsset,
  anAttempt,
  anId,
  anIdempotencyRecord,
  aPlaylist,
  aReservation,
  aSettlement,
  aTrack,
  NOON,
} from "./builders.js";
import type { StorageUnderTest } from "./storage-under-test.js";
import { aDelivery, aDeliveryAttempt, anEndpoint, anEvent } from "./webhook-builders.js";

/** An account with at least one row in every table that holds something of accounts. */
export interface FilledAccount {
  readonly id: AccountId;
  /** A generation, completed, and two that failed and wait. */
  readonly jobs: readonly Job[];
  readonly uploaded: TrackId;
  readonly imported: TrackId;
}

/**
 * Fills the tables of one account. Whatever text it may hold has the word `secret` in it.
 *
 * @param many how many completed generations and requests it has
 */
export async function fillAccount(
  storage: StorageUnderTest,
  audio: Pick<AudioStore, "put">,
  secret: string,
  many = 3,
): Promise<FilledAccount> {
  const { id } = await storage.addAccount(
    { name: secret, externalId: `${secret} 17`, emailVerified: true },
    { monthly: 100_000 },
  );
  const put = (key: string): Promise<unknown> => audio.put(key, new Uint8Array([1, 2, 3]), 10);
  const completed = Array.from({ length: many }, () => jobOf(id, secret, "completed"));
  const split = { ...jobOf(id, secret, "completed"), kind: "stem_split", operation: "stem_split" } as const;
  const failed = jobOf(id, secret, "failed");
  const waiting = jobOf(id, secret, "queued");
  for (const job of [...completed, split, failed, waiting]) await acceptAndEnd(storage, job);
  for (const { id: jobId } of [...completed, split]) await put(`${jobId}/1/0-mix.mp3`);
  const tracks = completed.map((job) => trackOf(id, secret, job.id, `${job.id}/1/0-mix.mp3`));
  const [uploaded, imported] = [anId("trk"), anId("trk")];
  const own = [uploaded, imported].map((trackId) => ({
    ...trackOf(id, secret, null, `${trackId}/mix.mp3`),
    id: trackId,
  }));
  for (const trackId of [uploaded, imported]) await put(`${trackId}/mix.mp3`);
  const endpoint = anEndpoint({ accountId: id, url: `https://${secret}.example/hook` });
  const events = [...completed, failed].map((job, index) =>
    anEvent({ accountId: id, jobId: job.id, number: 1_000 + index, body: `{"prompt":"${secret}"}` }),
  );
  const deliveries = events.map((event) => aDelivery({ eventId: event.id, endpointId: endpoint.id }));
  await storage.inTransaction(async (tx) => {
    await storage.accounts.insertKeys(tx, [anApiKey({ accountId: id, name: secret })]);
    await storage.library.insertTracks(tx, [...tracks, ...own]);
    await storage.jobs.insertOutputs(tx, [
      { jobId: split.id, outputs: [{ ...anAsset({ label: secret, audioKey: `${split.id}/1/0-mix.mp3` }) }] },
    ]);
    const all = tracks.map((track) => track.id);
    await storage.library.insertPlaylists(tx, [
      aPlaylist({ accountId: id, title: secret, trackIds: all }),
      aPlaylist({ accountId: id, title: secret, visibility: "public", trackIds: [uploaded] }),
    ]);
    await storage.uploads.insertUpload(tx, {
      ...{ trackId: uploaded, accountId: id, sizeBytes: 3, createdAt: NOON, storedAt: NOON },
    });
    await storage.idempotency.insertRecords(
      tx,
      completed.map((job) =>
        anIdempotencyRecord({ accountId: id, jobId: job.id, response: { status: 202, body: secret } }),
      ),
    );
    await storage.requestLog.insert(
      tx,
      Array.from({ length: many * 20 }, () => aLoggedRequest({ accountId: id, client: secret })),
    );
    await storage.callbacks.insert(tx, {
      ...{ id: anId("cbk"), jobId: completed[0]?.id ?? failed.id, providerId: "synth", attempt: 1, digest: aHash() },
      ...{ headers: { "x-a": secret }, query: {}, body: Buffer.from(secret), receivedAt: NOON },
    });
    await storage.webhooks.insertEndpoint(tx, endpoint);
    await storage.webhooks.insertEvents(tx, events);
    await storage.webhooks.insertDeliveries(tx, deliveries);
    for (const { id: deliveryId } of deliveries)
      await storage.webhooks.insertDeliveryAttempts(tx, [aDeliveryAttempt({ deliveryId, excerpt: secret })]);
  });
  // Keeps what it has verified.
  await storage.ledger.audit();
  return { id, jobs: [...completed, split, failed, waiting], uploaded, imported };
}

function jobOf(accountId: AccountId, secret: string, status: "completed" | "failed" | "queued"): Job {
  const isEnded = status !== "queued";
  const request = aJobRequest({
    prompt: `rain and ${secret}`,
    lyrics: secret,
    client: secret,
    metadata: { note: secret },
    options: { style: secret },
  });
  const ended = { phase: "ended", dueAt: null, completedAt: NOON, endedBy: anId("rpt") } as const;
  const error = { code: "generation_failed", message: `It does not like ${secret}.` } as const;
  return aJob({
    ...{ accountId, request, status, reference: null, requestId: anId("req"), requestedAt: NOON },
    ...(isEnded ? ended : {}),
    ...(status === "failed" ? { error, creditsCharged: 0 } : {}),
  });
}

/** With its attempt, and with what the ledger has of it. */
async function acceptAndEnd(storage: StorageUnderTest, job: Job): Promise<void> {
  const { accountId, status, reference, request } = job;
  await storage.inTransaction(async (tx) => {
    await storage.jobs.insertJobs(tx, [job]);
    if (status !== "queued") await storage.jobs.insertAttempts(tx, [attemptOf(job, request.lyrics ?? "")]);
  });
  await storage.apply(aReservation(await storage.balanceOf(accountId), { ...job, reference }));
  if (status === "queued") return;
  const kind = status === "completed" ? "charge" : "refund";
  await storage.apply(aSettlement(await storage.balanceOf(accountId), job, kind));
}

function attemptOf({ id: jobId, status }: Job, secret: string): ReturnType<typeof anAttempt> {
  return anAttempt({
    ...{ jobId, startedAt: NOON, acceptedAt: NOON, endedAt: NOON, message: secret },
    ...{ handle: { version: 1, data: { id: secret } }, cost: { amount: 1, unit: "USD" }, billable: "yes" },
    ...(status === "completed"
      ? { state: "settled" as const }
      : { state: "failed" as const, loss: "provider_failed" as const }),
  });
}

function trackOf(
  accountId: AccountId,
  secret: string,
  jobId: JobId | null,
  audioKey: string,
): Parameters<StorageUnderTest["library"]["insertTracks"]>[1][number] {
  return {
    ...aTrack({ accountId, jobId, title: secret, prompt: secret, assets: [anAsset({ audioKey })] }),
    tags: { mood: [secret], activity: [], genre: [], other: [] },
    lyrics: { text: secret, words: null },
  };
}
