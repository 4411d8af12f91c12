import type { AccountId } from "../../core/ids.js";
import type { Upload } from "../../core/ports/upload-store.js";
import { aJob, aJobRequest, anId, aTrack, NOON } from "../support/builders.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import type { KnownRows } from "./known-rows.js";

export function anUpload(accountId: AccountId, storedAt: number | null = null): Upload {
  return { trackId: anId("trk"), accountId, sizeBytes: 1, createdAt: NOON, storedAt };
}

/** What reads or changes rows of accounts and tracks that are deleted, and of uploads. */
export const ERASURE_OPERATIONS: Readonly<
  Record<string, (storage: StorageUnderTest, known: KnownRows) => Promise<unknown>>
> = {
  liveJobs: ({ erasures }, { account }) => erasures.liveJobs(account.id, 10),
  endedJobs: ({ erasures }, { account }) => erasures.endedJobs(account.id, null, 10),
  "eraseJobs with a track": (storage) =>
    storage.inTransaction(async (tx) => {
      const job = aJob({ status: "completed", phase: "ended", dueAt: null, completedAt: NOON });
      await storage.jobs.insertJobs(tx, [job]);
      await storage.library.insertTracks(tx, [aTrack({ accountId: job.accountId, jobId: job.id })]);
      await storage.erasures.eraseJobs(tx, [job.id], NOON);
    }),
  "eraseTrack with the last track of a job": (storage) =>
    storage.inTransaction(async (tx) => {
      const job = aJob({ status: "completed", phase: "ended", dueAt: null, completedAt: NOON });
      const track = aTrack({ accountId: job.accountId, jobId: job.id });
      await storage.jobs.insertJobs(tx, [job]);
      await storage.library.insertTracks(tx, [track]);
      await storage.erasures.eraseTrack(tx, track.id, NOON);
    }),
  liveJobFrom: (storage) => storage.inTransaction((tx) => storage.jobs.liveJobFrom(tx, anId("trk"))),
  deleteSplitOutputs: (storage, { account }) =>
    storage.inTransaction(async (tx) => {
      const sourceTrackId = anId("trk");
      const request = aJobRequest({ sourceTrackId });
      const split = aJob({ accountId: account.id, kind: "stem_split", request, status: "completed", phase: "ended" });
      await storage.jobs.insertJobs(tx, [split]);
      await storage.jobs.deleteSplitOutputs(tx, sourceTrackId, account.id);
    }),
  "files that are to be deleted": (storage) =>
    storage.inTransaction(async (tx) => {
      const keys = [`${anId("job")}/1/0-mix.mp3`];
      await storage.erasures.noteFiles(tx, keys, NOON);
      await storage.erasures.postponeFiles(tx, keys, NOON);
      await storage.erasures.forgetFiles(tx, keys);
    }),
  dueFiles: ({ erasures }) => erasures.dueFiles(NOON, 10),
  isNotedFile: ({ erasures }) => erasures.isNotedFile("trk_1/mix.mp3"),
  listTracks: ({ erasures }, { account }) => erasures.listTracks(account.id, null, 10),
  listPlaylists: ({ erasures }, { account }) => erasures.listPlaylists(account.id, null, 10),
  listUploads: ({ erasures }, { account }) => erasures.listUploads(account.id, NOON, 10),
  hasUploads: ({ erasures }, { account }) => erasures.hasUploads(account.id),
  eraseUploads: (storage) => storage.inTransaction((tx) => storage.erasures.eraseUploads(tx, [anId("trk")])),
  "eraseRows of every kind": (storage) =>
    storage.inTransaction(async (tx) => {
      const kinds = ["keys", "idempotency_records", "requests", "playlists", "webhook_events", "search_words"] as const;
      for (const kind of kinds) await storage.erasures.eraseRows(tx, kind, anId("acct"), 10);
    }),
  claimDeletion: (storage) => storage.inTransaction((tx) => storage.erasures.claimDeletion(tx, NOON, NOON)),
  usageOf: (storage, { account }) => storage.inTransaction((tx) => storage.uploads.usageOf(tx, account.id, NOON)),
  insertUpload: (storage, { account }) =>
    storage.inTransaction((tx) => storage.uploads.insertUpload(tx, anUpload(account.id))),
  markStored: (storage) =>
    storage.inTransaction((tx) =>
      storage.uploads.markStored(tx, { trackId: anId("trk"), sizeBytes: 1, storedAt: NOON }),
    ),
  deleteUnstored: (storage) => storage.inTransaction((tx) => storage.uploads.deleteUnstored(tx, anId("trk"))),
  findUploads: ({ uploads }) => uploads.findUploads([anId("trk")]),
  deleteAbandoned: (storage) => storage.inTransaction((tx) => storage.uploads.deleteAbandoned(tx, NOON, 10)),
};
