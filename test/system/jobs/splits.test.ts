import { expect } from "chai";
import { FermataError } from "../../../core/errors.js";
import type { JobId } from "../../../core/ids.js";
import type { SplitRequest as StartRequest } from "../../../core/generations/start-split.js";
import type { Track } from "../../../core/library/track.js";
import type { Completed, ProviderAsset, SplitRequest } from "../../../core/ports/music-provider.js";
import { anAsset, anId, aTrack } from "../../support/builders.js";
import { submitAccepts, submitFails, SCRIPTED_AUDIO, scriptedBytes } from "../../support/doubles/scripted-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { COST, type WorkerOptions, WorkerHarness } from "./worker-harness.js";

const ANY = { sources: "any" } as const;
const SPLITS = { stemSplit: ANY, vocalRemoval: ANY };

function stem(label: string): ProviderAsset {
  return {
    role: "stem",
    label,
    contentType: null,
    durationSeconds: 2,
    source: { kind: "bytes", bytes: scriptedBytes("audio/wav") },
  };
}

const stems = (accountId: string | null, trackId: string): StartRequest => ({ kind: "stem_split", accountId, trackId });
const removal = (accountId: string | null, trackId: string): StartRequest => ({
  kind: "vocal_removal",
  accountId,
  trackId,
});

const parted = (...labels: string[]): Completed => ({ state: "completed", tracks: [], stems: labels.map(stem) });

describe("A split", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    harness.provider.behaviour = () => Promise.resolve(parted("vocals", "instrumental"));
  });
  afterEach(() => harness.close());

  async function addTrack(overrides: Partial<Track> = {}): Promise<Track> {
    const track = aTrack({
      accountId: harness.accountId,
      assets: [anAsset({ audioKey: `${anId("trk")}/mix.mp3`, sizeBytes: 1_000 })],
      ...overrides,
    });
    for (const { audioKey } of track.assets) await harness.audio.put(audioKey, SCRIPTED_AUDIO, 10_000);
    await harness.storage.inTransaction((tx) => harness.storage.library.insertTracks(tx, [track]));
    return track;
  }

  const start = (options: WorkerOptions = {}): ReturnType<WorkerHarness["start"]> =>
    harness.start({ capabilities: SPLITS, ...options });
  const outputsOf = async (id: JobId) => (await harness.storage.jobs.outputsOf([id])).get(id) ?? [];
  const codeOf = (outcome: Promise<unknown>): Promise<string> =>
    outcome.then(
      () => "started",
      (error: unknown) => (FermataError.is(error) ? error.code : String(error)),
    );

  it("reserves its cost, splits the track, is charged, and stores its files", async () => {
    const track = await addTrack();
    const { operate, splits } = await start();
    const job = await splits.start({ ...removal(null, track.id), client: "studio", metadata: { take: 3 } });
    expect(job).to.include({
      kind: "vocal_removal",
      operation: "vocal_removal",
      accountId: harness.accountId,
      creditsCharged: COST,
      status: "queued",
    });
    await harness.quiet();
    await harness.pass(0);
    expect(await harness.job(job.id)).to.deep.include({
      status: "completed",
      creditsCharged: COST,
      providerId: "scripted",
    });
    expect(await harness.entries(job.id)).to.deep.equal(["reserve", "charge"]);
    const outputs = await outputsOf(job.id);
    expect(
      outputs.map(({ label, contentType, sizeBytes, durationSeconds }) => [
        label,
        contentType,
        sizeBytes,
        durationSeconds,
      ]),
    ).to.deep.equal([
      ["vocals", "audio/wav", 1_000, 2],
      ["instrumental", "audio/wav", 1_000, 2],
    ]);
    expect((await harness.files()).filter((file) => file.startsWith(job.id))).to.have.members(
      outputs.map(({ audioKey }) => audioKey),
    );
    expect((await operate.show(job.id)).outputs).to.deep.equal(outputs);
    expect(harness.ended[0]?.outputs).to.deep.equal(outputs);
    const request = harness.provider.submissions[0] as SplitRequest;
    expect(request).to.deep.include({ operation: "vocal_removal", jobId: job.id });
    const heard: Buffer[] = [];
    for await (const chunk of request.source.open()) heard.push(Buffer.from(chunk));
    expect(Buffer.concat(heard)).to.deep.equal(Buffer.from(SCRIPTED_AUDIO));
  });

  it("gives the provider the lossless copy, a link, and the handle of its own track", async () => {
    const master = anAsset({ role: "master", contentType: "audio/wav", audioKey: "a/master.wav" });
    const track = await addTrack({
      assets: [anAsset({ audioKey: "a/mix.mp3" }), master],
      origin: { providerId: "scripted", reference: { clip: "c1" } },
    });
    const { splits } = await start();
    await splits.start(stems(null, track.id));
    await harness.pass(0);
    const { source } = harness.provider.submissions[0] as SplitRequest;
    expect(source).to.deep.include({ title: track.title, contentType: "audio/wav", reference: { clip: "c1" } });
    expect(source.url).to.match(/^https:\/\/fermata\.test\/audio\/a\/master\.wav\?expires=/);
  });

  it("is refunded when the provider finds nothing to split, gives two parts the same label, or fails", async () => {
    const track = await addTrack();
    const { splits } = await start();
    const responses = [
      () => Promise.resolve(parted()),
      () => Promise.resolve(parted("drums", "drums")),
      submitFails("failed"),
    ];
    for (const response of responses) {
      harness.provider.behaviour = response;
      const { id } = await splits.start(stems(null, track.id));
      await harness.pass(0);
      await harness.expectFailed(id, "generation_failed");
      expect(await outputsOf(id)).to.deep.equal([]);
    }
  });

  it("goes to the next capable provider while one refuses", async () => {
    harness.provider.behaviour = submitFails("unavailable");
    harness.fallback.behaviour = () => Promise.resolve(parted("drums", "other"));
    const track = await addTrack();
    const { splits } = await start({ withFallback: true, maxAttempts: 1 });
    const { id } = await splits.start(stems(null, track.id));
    await harness.pass(0);
    await harness.pass(0);
    expect(await harness.job(id)).to.include({
      status: "completed",
      providerId: "fallback",
      operation: "stem_split",
      servedModelId: null,
    });
    expect((await outputsOf(id)).map(({ label }) => label)).to.deep.equal(["drums", "other"]);
  });

  it("skips providers that accept only their own tracks, other formats, or shorter files", async () => {
    const track = await addTrack();
    for (const stemSplit of [
      { sources: "own" },
      { sources: "any", contentTypes: ["audio/flac"] },
      { sources: "any", maxSeconds: 29 },
      { sources: "any", maxBytes: 999 },
    ] as const) {
      const { splits, stop } = await start({ capabilities: { stemSplit } });
      expect(await codeOf(splits.start(stems(null, track.id))), JSON.stringify(stemSplit)).to.equal("invalid_request");
      await stop();
    }
    expect(harness.provider.submissions).to.have.length(0);
  });

  it("survives a lost worker: polled by the handle, like any job", async () => {
    harness.provider.behaviour = submitAccepts(1_000);
    harness.provider.pollBehaviour = () => Promise.resolve(parted("vocals"));
    const track = await addTrack();
    const first = await start();
    const { id } = await first.splits.start(stems(null, track.id));
    await harness.pass(250);
    await first.stop(0);
    await start();
    await harness.pass(1_500);
    expect((await harness.job(id)).status).to.equal("completed");
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("fails, refunded, when its track was deleted meanwhile", async () => {
    const track = await addTrack();
    const { splits } = harness.prepare({ capabilities: SPLITS });
    const { id } = await splits.start(stems(null, track.id));
    const emptied = new FaultyPort(harness.storage.library).on("findTracks", () =>
      Promise.resolve(new Map<never, never>()),
    );
    await start({ stores: { library: emptied } });
    await harness.pass(0);
    await harness.expectFailed(id, "generation_failed");
    expect(harness.provider.submissions).to.have.length(0);
  });

  describe("is refused, and reserves nothing,", () => {
    it("for a track that is unknown, private to another account, or has no audio", async () => {
      const other = (await harness.storage.addAccount({})).id;
      const { splits } = await start();
      const [foreign, silent] = [await addTrack({ accountId: other }), await addTrack({ assets: [] })];
      for (const id of [anId("trk"), "x", foreign.id, silent.id]) {
        expect(await codeOf(splits.start(stems(harness.accountId, id))), id).to.equal("track_not_found");
      }
      expect(
        await codeOf(splits.start(stems(null, (await addTrack({ accountId: other, visibility: "public" })).id))),
      ).to.equal("insufficient_credits");
      expect(await harness.storage.jobs.listJobs({ limit: 10 })).to.deep.equal([]);
    });

    it("without an account for a track without an owner; a given account pays for it", async () => {
      const track = await addTrack({ accountId: null, visibility: "public" });
      const { splits } = await start();
      expect(await codeOf(splits.start(stems(null, track.id)))).to.equal("invalid_request");
      expect(await codeOf(splits.start(stems(anId("acct"), track.id)))).to.equal("invalid_request");
      expect((await splits.start(stems(harness.accountId, track.id))).accountId).to.equal(harness.accountId);
    });

    it("for a client label or metadata over the limits", async () => {
      const track = await addTrack();
      const { splits } = await start();
      expect(await codeOf(splits.start({ ...stems(null, track.id), client: "" }))).to.equal("invalid_request");
      expect(await codeOf(splits.start({ ...stems(null, track.id), metadata: { long: "x".repeat(17_000) } }))).to.equal(
        "invalid_request",
      );
    });

    it("while every capable provider is known to be down", async () => {
      const track = await addTrack();
      const { splits, availability } = await start();
      await availability.recordBroken("scripted");
      expect(await codeOf(splits.start(stems(null, track.id)))).to.equal("provider_unavailable");
    });
  });
});
