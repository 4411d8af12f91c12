import { expect } from "chai";
import type { JobId, TrackId } from "../../../core/ids.js";
import type { Track } from "../../../core/library/track.js";
import type {
  Accepted,
  Completed,
  ProviderFailure,
  SplitRequest,
  SubmitRequest,
} from "../../../core/ports/music-provider.js";
import { anAsset, aTrack } from "../../support/builders.js";
import { SCRIPTED_AUDIO, scriptedBytes, submitFails } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers, type MemoryWorkers, type MemoryWorkersOptions } from "../../support/memory-workers.js";

const SECOND = 1_000;
const SPLITS = { stemSplit: { sources: "any" }, vocalRemoval: { sources: "any" } } as const;

const stem = (label: string, contentType: "audio/mpeg" | "audio/wav" = "audio/wav") => ({
  role: "stem" as const,
  label,
  contentType,
  durationSeconds: 30,
  source: { kind: "bytes" as const, bytes: scriptedBytes(contentType) },
});
const SPLIT: Completed = { state: "completed", tracks: [], stems: [stem("drums"), stem("vocals")] };

/** A provider that splits tracks, or works from them, with a track of the account. */
async function splitting(given: MemoryWorkersOptions = {}, track: Partial<Track> = {}) {
  const kit = await memoryWorkers({ capabilities: SPLITS, catalogue: SPLITS, ...given });
  kit.provider.behaviour = (): Promise<Completed | Accepted> => Promise.resolve(SPLIT);
  const source = aTrack({ accountId: kit.accountId, ...track });
  await kit.storage.inTransaction((tx) => kit.storage.library.insertTracks(tx, [source]));
  for (const { audioKey } of source.assets) await kit.audio.put(audioKey, SCRIPTED_AUDIO, 1_000_000);
  return { kit, source };
}

async function split(kit: MemoryWorkers, trackId: TrackId): Promise<JobId> {
  return (await kit.core.splits.start({ kind: "stem_split", accountId: kit.accountId, trackId })).id;
}

const last = ({ provider }: MemoryWorkers): SubmitRequest => provider.submissions.at(-1) as SubmitRequest;
/** Why a request could not be made, as it is logged for the operator. */
function refusalOf(kit: MemoryWorkers): string {
  const { provider, error } = kit.fieldsOf("A job's request could not be made for its provider");
  expect(provider).to.equal("scripted");
  return (error as ProviderFailure).message;
}

describe("The request for a provider", () => {
  it("of a split has the track's file, by its bytes and by a link that lives for a day", async () => {
    const { kit, source } = await splitting();
    const id = await split(kit, source.id);
    await kit.start();
    const request = last(kit) as SplitRequest;
    expect(request).to.deep.include({ operation: "stem_split", jobId: id, attempt: 1, callbackUrl: null });
    expect(request.source).to.include({
      title: "Rain on a tin roof",
      contentType: "audio/mpeg",
      sizeBytes: 480_000,
      durationSeconds: 30,
      reference: null,
    });
    const bytes: Uint8Array[] = [];
    for await (const chunk of request.source.open()) bytes.push(chunk);
    expect(Buffer.concat(bytes).equals(SCRIPTED_AUDIO)).to.equal(true);
    const url = new URL(request.source.url ?? "");
    expect(url.pathname).to.include(source.assets[0]?.audioKey ?? "no file");
    expect(Number(url.searchParams.get("expires"))).to.equal(Math.floor(kit.clock.now() / SECOND) + 86_400);
    expect(await kit.job(id)).to.include({ status: "completed", creditsCharged: 10 });
    const outputs = (await kit.storage.jobs.outputsOf([id])).get(id) ?? [];
    expect(outputs.map(({ label, contentType }) => [label, contentType])).to.deep.equal([
      ["drums", "audio/wav"],
      ["vocals", "audio/wav"],
    ]);
    expect(await kit.storage.library.tracksOfJobs([id])).to.have.property("size", 0);
  });

  it("of a split has no link where the world cannot reach this installation", async () => {
    const { kit, source } = await splitting({ options: { reachableUrl: null } });
    await split(kit, source.id);
    await kit.start();
    expect((last(kit) as SplitRequest).source.url).to.equal(null);
  });

  it("of a split names the provider's own track by its reference, and no other provider's", async () => {
    const reference = { version: 1, data: { clip: "c1" } };
    const own = await splitting({}, { origin: { providerId: "scripted", reference } as never });
    await split(own.kit, own.source.id);
    await own.kit.start();
    expect((last(own.kit) as SplitRequest).source.reference).to.deep.equal(reference);
    const other = await splitting({}, { origin: { providerId: "suno", reference } as never });
    await split(other.kit, other.source.id);
    await other.kit.start();
    expect((last(other.kit) as SplitRequest).source.reference).to.equal(null);
  });

  it("of a split is refused, refunded, where the track or its provider's way to split is gone", async () => {
    const { kit, source } = await splitting();
    const id = await split(kit, source.id);
    kit.storage.sql("DELETE FROM fermata_tracks WHERE id = ?", source.id);
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0, attempt: 0 });
    expect(refusalOf(kit)).to.equal("There is no file of the track that this provider takes.");
    const cannot = await splitting({ capabilities: {} });
    const other = await split(cannot.kit, cannot.source.id);
    await cannot.kit.start();
    expect(await cannot.kit.job(other)).to.include({ status: "failed" });
    expect(refusalOf(cannot.kit)).to.equal("There is no file of the track that this provider takes.");
    expect(cannot.kit.provider.submissions).to.deep.equal([]);
  });

  it("of a split whose files cannot be had is refunded, and leaves none", async () => {
    const { kit, source } = await splitting();
    kit.provider.behaviour = () => Promise.resolve({ ...SPLIT, stems: [stem("drums"), stem("drums")] });
    const id = await split(kit, source.id);
    const before = kit.audio.keys;
    await kit.start();
    await kit.pass(60 * SECOND);
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
    expect(kit.audio.keys).to.deep.equal(before);
  });

  it("of a split goes to the next provider that can, while one refuses", async () => {
    const { kit, source } = await splitting({ withFallback: true, jobs: { retry: { maxAttempts: 1, backoffMs: 1 } } });
    kit.provider.behaviour = submitFails("unavailable");
    kit.fallback.behaviour = () => Promise.resolve(SPLIT);
    const id = await split(kit, source.id);
    await kit.start();
    await kit.pass(5 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed", providerId: "fallback", servedModelId: null });
  });

  const references = { cover: { sources: "any" } } as const;
  const covering = (trackId: string) => ({ reference: { trackId, mode: "cover" } }) as never;

  it("of a generation from a track has the track, in the mode that was asked for", async () => {
    const { kit, source } = await splitting({ model: { references } });
    const id = await kit.accept(covering(source.id));
    await kit.start();
    const { reference } = last(kit) as Extract<SubmitRequest, { operation: "music" }>;
    expect(reference).to.deep.include({ mode: "cover", fromSeconds: null, toSeconds: null, strength: null });
    expect(reference?.source).to.include({ title: "Rain on a tin roof", contentType: "audio/mpeg" });
    expect((await kit.job(id)).request.sourceTrackId).to.equal(source.id);
  });

  it("of a generation from a track is refused once the track is gone", async () => {
    const { kit, source } = await splitting({ model: { references } });
    const id = await kit.accept(covering(source.id));
    kit.storage.sql("DELETE FROM fermata_tracks WHERE id = ?", source.id);
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "failed", attempt: 0 });
    expect(refusalOf(kit)).to.equal("The track that the request works from is gone.");
    expect(kit.provider.submissions).to.deep.equal([]);
  });

  for (const [what, sql, reason] of [
    [
      "belongs to another provider since",
      `UPDATE fermata_tracks SET origin = '{"providerId":"suno","reference":null}'`,
      /body\.reference\.track_id must be a track that .* made/,
    ],
    [
      "has no file any more that the model takes",
      "UPDATE fermata_track_assets SET duration_ms = 60001",
      /body\.reference\.track_id has no file that scripted\/song takes: at most 60 s/,
    ],
  ] as const) {
    it(`of a generation from a track is refused where the track ${what}`, async () => {
      const own = { cover: { sources: "own", maxSeconds: 60 } } as const;
      const origin = { providerId: "scripted", reference: { clip: "c1" } } as const;
      const { kit, source } = await splitting({ model: { references: own } }, { origin });
      const id = await kit.accept(covering(source.id));
      kit.storage.sql(sql);
      await kit.start();
      expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0, attempt: 0 });
      expect(refusalOf(kit)).to.match(reason);
    });
  }

  it("has an address for callbacks where the provider calls back: one for each attempt, or the same", async () => {
    const addressOf = async (given: MemoryWorkersOptions["capabilities"]): Promise<string | null> => {
      const kit = await memoryWorkers({ capabilities: { callbacks: "hints", ...given } });
      await kit.accept();
      await kit.start();
      return last(kit).callbackUrl;
    };
    expect(await addressOf({})).to.match(/^https:\/\/music\.example\/.*\/scripted\/job_\w+\/1\.[\w-]+$/);
    expect(await addressOf({ idempotentSubmit: true })).to.match(/\/scripted\/job_\w+\/[0-9a-f]+-[\w-]+$/);
    expect(await addressOf({ callbacks: "none" })).to.equal(null);
  });

  it("is refused where the model no longer takes an option that was accepted", async () => {
    const kit = await memoryWorkers();
    const id = await kit.accept({ options: { seed: 7 } });
    kit.storage.sql("UPDATE fermata_jobs SET served_model_id = 'scripted/beat' WHERE id = ?", id);
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0, attempt: 0 });
    expect(refusalOf(kit)).to.match(/^The request no longer fits scripted\/beat: body\.options\b.*\.$/);
    expect(kit.provider.submissions).to.deep.equal([]);
  });

  it("names the model that the caller asked for where none is served in its place", async () => {
    const kit = await memoryWorkers();
    const id = await kit.accept();
    kit.storage.sql("UPDATE fermata_jobs SET served_model_id = NULL WHERE id = ?", id);
    await kit.start();
    expect((last(kit) as Extract<SubmitRequest, { operation: "music" }>).model.id).to.equal("scripted/song");
  });

  it("of a split has the file in the type in which it is stored", async () => {
    const { kit, source } = await splitting({}, { assets: [anAsset({ contentType: "audio/flac" })] });
    const id = await split(kit, source.id);
    await kit.start();
    expect((last(kit) as SplitRequest).source.contentType).to.equal("audio/flac");
    expect(await kit.job(id)).to.include({ status: "completed" });
  });
});
