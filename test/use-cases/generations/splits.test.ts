import { expect } from "chai";
import {
  AccountSuspendedError,
  InsufficientCreditsError,
  InvalidRequestError,
  OperationRefusedError,
  ProviderUnavailableError,
  RateLimitedError,
  TrackNotFoundError,
  UnknownObjectError,
} from "../../../core/errors.js";
import type { Track } from "../../../core/library/track.js";
import { anAsset, anId, aTrack } from "../../support/builders.js";
import { submitFails } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers, type MemoryWorkers } from "../../support/memory-workers.js";

const SPLITS = { stemSplit: { sources: "any" } } as const;
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("Splits of tracks", () => {
  let kit: MemoryWorkers;
  let track: Track;
  beforeEach(async () => {
    kit = await memoryWorkers({
      capabilities: SPLITS,
      catalogue: SPLITS,
      options: { splitCosts: { stem_split: 6, vocal_removal: 3 } },
    });
    track = aTrack({ accountId: kit.accountId });
    await insert(track);
  });
  const insert = (...tracks: readonly Track[]): Promise<void> =>
    kit.storage.inTransaction((tx) => kit.storage.library.insertTracks(tx, tracks));
  const start = (given: Partial<Parameters<typeof kit.core.splits.start>[0]> = {}) =>
    kit.core.splits.start({ kind: "stem_split", accountId: kit.accountId, trackId: track.id, ...given });

  it("are started for the price of their kind, and recorded", async () => {
    const started = await start({ client: "studio", metadata: { order: 7 }, reference: "order 7" });
    expect(started).to.deep.include({
      accountId: kit.accountId,
      kind: "stem_split",
      modelId: "stem_split",
      servedModelId: null,
      operation: "stem_split",
      providerId: "scripted",
      reference: "order 7",
      creditsCharged: 6,
      isRepeated: false,
      createdAt: kit.clock.now(),
      requestId: null,
      requestedAt: null,
    });
    expect(started.request).to.deep.include({
      prompt: "",
      client: "studio",
      metadata: { order: 7 },
      sourceTrackId: track.id,
      sourceUse: null,
    });
    expect(started).not.to.have.property("fence");
    const [record] = await kit.storage.auditLog.list({ limit: 1 });
    expect(record).to.deep.include({
      action: "splits.start",
      accountId: kit.accountId,
      targets: [started.id],
      fields: { kind: "stem_split", track: track.id, credits: 6 },
    });
  });

  it("are started once under a reference, for the same track and kind", async () => {
    const { id } = await start({ reference: "order 7" });
    expect(await start({ reference: "order 7" })).to.include({ id, isRepeated: true });
    const other = aTrack({ accountId: kit.accountId });
    await insert(other);
    expect(await failure(start({ reference: "order 7", trackId: other.id }))).to.be.instanceOf(OperationRefusedError);
    expect((await start()).id).not.to.equal(id);
    for (const reference of ["", "x".repeat(256), "ü"])
      expect(String(await failure(start({ reference })))).to.include("A reference has 1 to 255 printable ASCII");
    await start({ reference: "~".repeat(255) });
  });

  it("are paid by the track's owner where no account is named", async () => {
    expect(await start({ accountId: null })).to.include({ accountId: kit.accountId });
    const free = aTrack({ accountId: null, visibility: "public" });
    await insert(free);
    const unpaid = await failure(start({ accountId: null, trackId: free.id }));
    expect(unpaid).to.be.instanceOf(OperationRefusedError);
    expect(String(unpaid)).to.include(`The track ${free.id} has no owner. Name the account that pays.`);
    expect(await start({ trackId: free.id })).to.include({ accountId: kit.accountId });
    expect(await failure(start({ accountId: null, trackId: anId("trk") }))).to.be.instanceOf(TrackNotFoundError);
  });

  it("are refused with what stands against them, and nothing is reserved", async () => {
    const [theirs, silent] = [aTrack(), aTrack({ accountId: kit.accountId, assets: [anAsset({ role: "cover" })] })];
    await insert(theirs, silent);
    const { id: poor } = await kit.storage.addAccount({}, { pack: 5 });
    const { id: off } = await kit.storage.addAccount({ suspendedAt: 1 });
    const shared = aTrack({ visibility: "public" });
    await insert(shared);
    const refused = [
      [start({ trackId: "nonsense" }), TrackNotFoundError],
      [start({ trackId: anId("trk") }), TrackNotFoundError],
      [start({ trackId: theirs.id }), TrackNotFoundError],
      [start({ trackId: silent.id }), TrackNotFoundError],
      [start({ kind: "vocal_removal" }), OperationRefusedError],
      [start({ client: "" }), InvalidRequestError],
      [start({ accountId: "nonsense" }), UnknownObjectError],
      [start({ accountId: anId("acct") }), UnknownObjectError],
      [start({ accountId: off }), AccountSuspendedError],
      [start({ accountId: poor, trackId: shared.id }), InsufficientCreditsError],
    ] as const;
    for (const [work, error] of refused) expect(await failure(work)).to.be.instanceOf(error);
    expect(String(await failure(start({ kind: "vocal_removal" })))).to.include(
      `No provider that is on can do a vocal_removal of the track ${track.id}.`,
    );
    expect(await kit.storage.balanceOf(kit.accountId)).to.include({ reservedPack: 0, runningJobs: 0 });
  });

  it("are refused while every provider that can is down", async () => {
    kit = await memoryWorkers({
      ...{ capabilities: SPLITS, catalogue: SPLITS },
      options: { breaker: { failures: 1, openMs: 60_000 } },
    });
    await insert({ ...track, accountId: kit.accountId });
    kit.provider.behaviour = submitFails("unavailable");
    await start();
    await kit.start();
    expect(await failure(start())).to.be.instanceOf(ProviderUnavailableError);
    expect(await kit.core.api.acceptSplit.offersFor(track)).to.deep.equal([
      { kind: "stem_split", creditCost: 10, status: "unavailable" },
    ]);
  });

  describe("over the API", () => {
    const accept = async (
      given: Partial<Parameters<typeof kit.core.api.acceptSplit.execute>[0]> = {},
      key = "k1",
    ): ReturnType<typeof kit.core.api.acceptSplit.execute> =>
      kit.core.api.acceptSplit.execute({
        account: await kit.core.accounts.get(kit.accountId),
        kind: "stem_split",
        trackId: track.id,
        requestId: anId("req"),
        requestedAt: kit.clock.now(),
        limitExceeded: null,
        ...given,
        idempotency: {
          key,
          route: "POST /tracks/{id}/stems",
          body: {},
          present: ({ id }) => ({ status: 202, body: JSON.stringify({ id }) }),
        },
      });
    const limited = new RateLimitedError({} as never);

    it("are accepted once under a key, and replayed while a limit refuses new ones", async () => {
      const first = await accept({ requestedAt: kit.clock.now() + 9 });
      expect(first.kind === "accepted" && first.job).to.include({
        creditsCharged: 6,
        createdAt: kit.clock.now() + 9,
        requestedAt: kit.clock.now() + 9,
        reference: null,
      });
      expect(await accept({ limitExceeded: limited })).to.include({ kind: "replayed" });
      expect(await failure(accept({ limitExceeded: limited }, "k2"))).to.equal(limited);
      expect(await failure(accept({ limitExceeded: limited, trackId: "nonsense" }, "k3"))).to.equal(limited);
    });

    it("are refused with what stands against them", async () => {
      const suspended = { ...(await kit.core.accounts.get(kit.accountId)), suspendedAt: 1 };
      expect(await failure(accept({ account: suspended }))).to.be.instanceOf(AccountSuspendedError);
      expect(await failure(accept({ client: "" }))).to.be.instanceOf(InvalidRequestError);
      for (const trackId of ["nonsense", anId("trk")])
        expect(await failure(accept({ trackId }))).to.be.instanceOf(TrackNotFoundError);
      const cannot = (await failure(accept({ kind: "vocal_removal" }))) as InvalidRequestError;
      expect(cannot).to.be.instanceOf(InvalidRequestError);
      expect(cannot.details).to.deep.include({
        issues: [{ path: "path.id", message: "is a track that no provider here can split in this way" }],
      });
    });

    it("are offered for a track with audio, in the ways that a provider has", async () => {
      const { acceptSplit } = kit.core.api;
      expect(await acceptSplit.offersFor(track)).to.deep.equal([
        { kind: "stem_split", creditCost: 6, status: "available" },
      ]);
      expect(await acceptSplit.offersFor({ ...track, assets: [anAsset({ role: "stem" })] })).to.deep.equal([]);
    });
  });
});
