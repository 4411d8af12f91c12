import { expect } from "chai";
import { Tiers } from "../../../../core/accounts/tiers.js";
import { ServiceUnavailableError } from "../../../../core/errors.js";
import type { Track } from "../../../../core/library/track.js";
import { type TrackUpload, UploadTrack, type UploadTrackDeps } from "../../../../core/library/upload-track.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { Upload } from "../../../../core/ports/upload-store.js";
import { anAccount, anId, NOON } from "../../../support/builders.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const ACCOUNT = anAccount();
const LIMIT = { perMinute: 1, perDay: 1 };
const TIERS = new Tiers([
  {
    name: ACCOUNT.tier,
    maxConcurrent: 1,
    monthlyCredits: 0,
    rateLimits: { read: LIMIT, generation: LIMIT, write: LIMIT },
    uploads: { maxTracks: 5, maxBytes: 5_000 },
  },
]);
const FILE = Buffer.from(`RIFF\0\0\0\0WAVE${"x".repeat(100)}`);

interface Situation {
  readonly isFindable?: boolean;
  readonly takesMs?: number;
  /** Of the quota of 5,000 bytes. */
  readonly usedBytes?: number;
  readonly canDecode?: boolean;
  readonly audio?: TrackUpload["audio"];
}

/** An upload whose last transaction is committed, although its reply is lost. */
function losing({ isFindable = true, takesMs = 0, usedBytes = 0, canDecode = true, audio = FILE }: Situation = {}): {
  readonly upload: Promise<Track>;
  readonly files: Set<string>;
  readonly uploads: Map<string, Upload>;
  readonly tracks: Map<string, Track>;
} {
  const [files, uploads, tracks] = [new Set<string>(), new Map<string, Upload>(), new Map<string, Track>()];
  let now = NOON;
  const deps: UploadTrackDeps = {
    accounts: { findAccounts: () => Promise.resolve(new Map([[ACCOUNT.id, ACCOUNT]])) },
    tiers: TIERS,
    ledger: { lockBalances: () => Promise.resolve(new Map()) },
    uploads: {
      usageOf: () => Promise.resolve({ tracks: 0, bytes: usedBytes }),
      insertUpload: (_tx, upload) => Promise.resolve(void uploads.set(upload.trackId, upload)),
      markStored: (_tx, { trackId }) => Promise.resolve(uploads.has(trackId)),
      deleteUnstored: (_tx, trackId) => Promise.resolve(void uploads.delete(trackId)),
      findUploads: () => Promise.reject(new Error("not asked for")),
      deleteAbandoned: () => Promise.reject(new Error("not asked for")),
    },
    library: {
      insertTracks: (_tx, [track]) => Promise.resolve(void tracks.set((track as Track).id, track as Track)),
      findTracks: async () => {
        if (!isFindable) throw new Error("gone");
        return Promise.resolve(new Map(tracks) as Map<Track["id"], Track>);
      },
    },
    audio: {
      put: async (key, source) => {
        files.add(key);
        let sizeBytes = 0;
        for await (const chunk of source as AsyncIterable<Uint8Array>) sizeBytes += chunk.length;
        now += takesMs;
        return { sizeBytes, etag: "x", modifiedAt: NOON };
      },
      deleteAll: (prefix) => {
        for (const key of files) if (key.startsWith(prefix)) files.delete(key);
        return Promise.resolve();
      },
    },
    derived: {
      deriveFor: (track) => Promise.resolve(track),
      deriveOfReadable: (track) => Promise.resolve(canDecode ? track : null),
    },
    unitOfWork: {
      async inTransaction(work) {
        const result = await work({} as Transaction, { isRetry: false });
        if (tracks.size > 0) throw new ServiceUnavailableError();
        return result;
      },
    },
    clock: { now: () => now, sleep: () => Promise.resolve() },
    ids: { next: anId },
    logger: new RecordingLogger(),
    record: null,
    decodes: true,
    limits: { maxBytes: 1_000, maxSeconds: 10 },
  };
  return { upload: new UploadTrack(deps).execute({ accountId: ACCOUNT.id, audio }), files, uploads, tracks };
}

describe("An upload", () => {
  it("is the track that it became, when only the reply to its commit was lost", async () => {
    const { upload, files, tracks } = losing();
    const track = await upload;
    expect([...tracks.keys()]).to.deep.equal([track.id]);
    expect([...files]).to.deep.equal([`${track.id}/mix.wav`]);
  });

  it("keeps its files while it is unknown whether it became a track", async () => {
    const { upload, files } = losing({ isFindable: false });
    expect(await upload.catch((error: unknown) => error)).to.be.instanceOf(ServiceUnavailableError);
    expect(files.size).to.equal(1);
  });

  it("is given up when it took so long that its files may be collected", async () => {
    const { upload, files, uploads, tracks } = losing({ takesMs: 3_600_000 });
    expect(await upload.catch((error: unknown) => error)).to.be.instanceOf(ServiceUnavailableError);
    expect([files.size, uploads.size, tracks.size]).to.deep.equal([0, 0, 0]);
  });

  it("is refused before its file is read when the quota is used up, or more than that by now", async () => {
    for (const usedBytes of [5_000, 6_000]) {
      let isRead = false;
      const audio = (async function* (): AsyncGenerator<Uint8Array> {
        isRead = true;
        yield await Promise.resolve(FILE);
      })();
      const { upload, files } = losing({ usedBytes, audio });
      expect(await upload.catch((error: unknown) => (error as Error).message)).to.include("5000 bytes of uploads");
      expect([isRead, files.size]).to.deep.equal([false, 0]);
    }
  });

  it("is no track where nothing can decode the file", async () => {
    const { upload, files, uploads, tracks } = losing({ canDecode: false });
    expect(await upload.catch((error: unknown) => (error as Error).message)).to.include("audio that can be decoded");
    expect([files.size, uploads.size, tracks.size]).to.deep.equal([0, 0, 0]);
  });
});
