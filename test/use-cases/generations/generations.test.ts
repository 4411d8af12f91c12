import { expect } from "chai";
import {
  AccountSuspendedError,
  GenerationConcurrencyExceededError,
  IdempotencyConflictError,
  InsufficientCreditsError,
  InvalidModelError,
  InvalidRequestError,
  JobNotFoundError,
  ProviderUnavailableError,
  RateLimitedError,
  TrackNotFoundError,
  UnknownObjectError,
} from "../../../core/errors.js";
import type { GenerationInput } from "../../../core/generations/request-rules.js";
import { anAsset, anId, aTrack } from "../../support/builders.js";
import { OPTIONS } from "../../support/core-options.js";
import { submitAccepts, submitFails } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers, type MemoryWorkers } from "../../support/memory-workers.js";

const SONG: GenerationInput = { modelId: "scripted/song", prompt: "rain on a tin roof" };
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("Generations for embedding apps", () => {
  let kit: MemoryWorkers;
  beforeEach(async () => {
    kit = await memoryWorkers();
  });
  const create = (input: Partial<GenerationInput> = {}, options = {}) =>
    kit.core.generations.create(kit.accountId, { ...SONG, ...input }, options);

  it("are created with all that was asked for, and reserve their price", async () => {
    const input = {
      lyrics: "la la",
      duration: 42,
      client: "studio",
      metadata: { order: 7 },
      options: { seed: 3 },
    };
    const created = await create(input, { requestId: anId("req") });
    expect(created).to.deep.include({
      accountId: kit.accountId,
      kind: "music",
      modelId: "scripted/song",
      status: "queued",
      creditsCharged: 10,
      error: null,
      createdAt: kit.clock.now(),
      completedAt: null,
      tracks: [],
      outputs: [],
      isRepeated: false,
    });
    expect(created.request).to.deep.equal({
      prompt: "rain on a tin roof",
      lyrics: "la la",
      durationSeconds: 42,
      instrumental: false,
      client: "studio",
      metadata: { order: 7 },
      options: { seed: 3 },
      sourceTrackId: null,
      sourceUse: null,
    });
    expect(created).not.to.have.property("fence");
    expect(await kit.storage.balanceOf(kit.accountId)).to.include({ pack: 9_990, reservedPack: 10, runningJobs: 1 });
    const job = await kit.job(created.id);
    expect(job).to.include({ requestedAt: kit.clock.now(), operation: "music_scripted_full", reference: null });
    expect(kit.metrics.counted).to.deep.equal([["group", "accept"]]);
  });

  it("take what is not given as not asked for", async () => {
    const { request } = await create();
    expect(request).to.deep.include({ lyrics: null, durationSeconds: null, instrumental: false, client: null });
    expect(request).to.deep.include({ metadata: null, options: {}, sourceTrackId: null, sourceUse: null });
  });

  it("are created once under a key, with the same values, and returned as they are then", async () => {
    const first = await create({}, { key: "order-1" });
    expect(await create({}, { key: "order-1" })).to.deep.equal({ ...first, isRepeated: true });
    await kit.start();
    const again = await create({}, { key: "order-1" });
    expect(again).to.include({ id: first.id, status: "completed", isRepeated: true });
    expect(again.tracks).to.have.length(1);
    expect(await failure(create({ prompt: "wind" }, { key: "order-1" }))).to.be.instanceOf(IdempotencyConflictError);
    expect((await create({}, { key: "order-2" })).id).not.to.equal(first.id);
    for (const key of ["x".repeat(256), "ü"])
      expect(await failure(create({}, { key }))).to.be.instanceOf(InvalidRequestError);
  });

  it("are refused with what stands against them, and nothing is reserved", async () => {
    const refused: readonly (readonly [input: Partial<GenerationInput>, error: new (...given: never[]) => Error])[] = [
      [{ prompt: "" }, InvalidRequestError],
      [{ modelId: "scripted/gone" }, InvalidModelError],
      [{ duration: 9_999 }, InvalidRequestError],
      [{ options: { unknown: 1 } }, InvalidRequestError],
      [{ reference: { trackId: anId("trk"), mode: "cover" } }, TrackNotFoundError],
      [{ reference: { trackId: "nonsense", mode: "cover" } }, TrackNotFoundError],
    ];
    for (const [input, error] of refused)
      expect(await failure(create(input)), JSON.stringify(input)).to.be.instanceOf(error);
    expect(await failure(create({}, { requestId: "nonsense" }))).to.be.instanceOf(InvalidRequestError);
    const { id: poor } = await kit.storage.addAccount({}, { pack: 9 });
    expect(await failure(kit.core.generations.create(poor, SONG))).to.be.instanceOf(InsufficientCreditsError);
    const { id: off } = await kit.storage.addAccount({ suspendedAt: 1 }, { pack: 90 });
    expect(await failure(kit.core.generations.create(off, SONG))).to.be.instanceOf(AccountSuspendedError);
    expect(await failure(kit.core.generations.create(anId("acct"), SONG))).to.be.instanceOf(UnknownObjectError);
    expect(await kit.storage.balanceOf(kit.accountId)).to.include({ pack: 10_000, reservedPack: 0 });
  });

  it("are as many at once as the account's tier allows", async () => {
    kit = await memoryWorkers({ options: { tiers: OPTIONS.tiers.map((tier) => ({ ...tier, maxConcurrent: 2 })) } });
    for (let count = 0; count < 2; count++) await create();
    expect(await failure(create())).to.be.instanceOf(GenerationConcurrencyExceededError);
  });

  it("are refused while every provider of the model is down", async () => {
    kit = await memoryWorkers({ options: { breaker: { failures: 1, openMs: 60_000 } } });
    kit.provider.behaviour = submitFails("unavailable");
    await create();
    await kit.start();
    expect(await failure(create())).to.be.instanceOf(ProviderUnavailableError);
  });

  it("work from a track that the account may play, at the price of the way it is used", async () => {
    const references = {
      cover: { sources: "any", creditCost: 4, takesStrength: true },
      extend: { sources: "any" },
    } as const;
    kit = await memoryWorkers({ model: { references } });
    const [own, theirs, shared, empty] = [
      aTrack({ accountId: kit.accountId }),
      aTrack(),
      aTrack({ visibility: "public" }),
      aTrack({ accountId: kit.accountId, assets: [anAsset({ role: "stem", label: "drums" })] }),
    ];
    await kit.storage.inTransaction((tx) => kit.storage.library.insertTracks(tx, [own, theirs, shared, empty]));
    const cover = (trackId: string) => create({ reference: { trackId, mode: "cover", strength: 0.5 } });
    const created = await cover(own.id);
    expect(created).to.include({ creditsCharged: 4 });
    expect(created.request).to.deep.include({
      sourceTrackId: own.id,
      sourceUse: { mode: "cover", fromSeconds: null, toSeconds: null, strength: 0.5 },
    });
    expect(await cover(shared.id)).to.include({ creditsCharged: 4 });
    const extend = await create({ reference: { trackId: own.id, mode: "extend", from: 7 } });
    expect([extend.creditsCharged, extend.request.sourceUse?.fromSeconds]).to.deep.equal([10, 7]);
    for (const { id } of [theirs, empty]) expect(await failure(cover(id))).to.be.instanceOf(TrackNotFoundError);
    const inpaint = create({ reference: { trackId: own.id, mode: "inpaint", from: 1, to: 2 } });
    expect(await failure(inpaint)).to.be.instanceOf(InvalidRequestError);
  });

  it("are found by id, also for one account alone", async () => {
    const { id } = await create();
    const { generations } = kit.core;
    expect(await generations.get(id)).to.include({ id, status: "queued" });
    expect(await generations.get(id, { accountId: kit.accountId })).to.include({ id });
    for (const work of [
      generations.get(id, { accountId: anId("acct") }),
      generations.get(anId("job")),
      generations.get("nonsense"),
    ])
      expect(await failure(work)).to.be.instanceOf(JobNotFoundError);
    await kit.start();
    const completed = await generations.get(id);
    expect(completed).to.include({ status: "completed", creditsCharged: 10, completedAt: kit.clock.now() });
    expect(completed.tracks).to.have.length(1);
  });

  it("are listed by account, the newest first, up to 50 and 20 by default", async () => {
    const { generations } = kit.core;
    const ids: string[] = [];
    for (let count = 0; count < 22; count++) {
      ids.unshift((await create()).id);
      await kit.clock.advance(1);
    }
    expect((await generations.list(kit.accountId)).map(({ id }) => id)).to.deep.equal(ids.slice(0, 20));
    expect((await generations.list(kit.accountId, { limit: 1 })).map(({ id }) => id)).to.deep.equal(ids.slice(0, 1));
    expect(await generations.list(kit.accountId, { limit: 50 })).to.have.length(22);
    for (const limit of [0, 51, 1.5])
      expect(await failure(generations.list(kit.accountId, { limit }))).to.be.instanceOf(InvalidRequestError);
    expect(await generations.list("nonsense")).to.deep.equal([]);
    expect(await generations.list(anId("acct"))).to.deep.equal([]);
  });

  it("are waited for, until they end or the time is over", async () => {
    kit.provider.behaviour = submitAccepts(5_000);
    const { id } = await create();
    await kit.start();
    const [short, long] = [kit.core.generations.wait(id, { timeoutMs: 1_000 }), kit.core.generations.wait(id)];
    await kit.pass(1_000);
    expect(await short).to.include({ id, status: "processing" });
    await kit.pass(10_000);
    expect(await long).to.include({ status: "completed" });
    for (const unknown of ["nonsense", anId("job")])
      expect(await failure(kit.core.generations.wait(unknown))).to.be.instanceOf(JobNotFoundError);
  });

  it("created by an operator are recorded", async () => {
    const { operateGenerations: operate } = kit.core;
    const created = await operate.create(kit.accountId, SONG, { key: "k1" });
    expect(created).to.include({ accountId: kit.accountId, isRepeated: false, status: "queued" });
    expect(created).not.to.have.any.keys("fence", "leaseOwner", "endedBy");
    expect(await operate.create(kit.accountId, SONG, { key: "k1" })).to.include({ id: created.id, isRepeated: true });
    expect((await operate.create(kit.accountId, SONG)).id).not.to.equal(created.id);
    expect(
      (await kit.storage.auditLog.list({ limit: 9 })).map(({ action, accountId, targets, fields }) => [
        action,
        accountId,
        targets,
        fields,
      ])[1],
    ).to.deep.equal(["generations.create", kit.accountId, [created.id], { model: "scripted/song", credits: 10 }]);
    expect(await kit.storage.auditLog.list({ limit: 9 })).to.have.length(2);
    expect(await failure(operate.create(kit.accountId, { ...SONG, prompt: "" }))).to.be.instanceOf(InvalidRequestError);
  });
});

describe("Generations over the API", () => {
  const idempotency = (key: string) => ({
    key,
    route: "POST /generations",
    body: { prompt: "rain" },
    present: ({ id }: { readonly id: string }) => ({ status: 202, body: JSON.stringify({ id }) }),
  });

  it("replay a response while a limit refuses new ones", async () => {
    const kit = await memoryWorkers();
    const account = await kit.core.accounts.get(kit.accountId);
    const request = { account, input: SONG, requestId: anId("req"), requestedAt: kit.clock.now() - 5 };
    const accept = (key: string, limitExceeded: RateLimitedError | null) =>
      kit.core.api.acceptGeneration.execute({ ...request, idempotency: idempotency(key), limitExceeded });
    const limited = new RateLimitedError({} as never);
    const first = await accept("k1", null);
    expect(first.kind).to.equal("accepted");
    expect(first.kind === "accepted" && (await kit.job(first.job.id))).to.include({ requestedAt: kit.clock.now() - 5 });
    const replay = await accept("k1", limited);
    expect(replay.kind).to.equal("replayed");
    expect(replay.kind === "replayed" && replay.record.response).to.deep.equal({
      status: 202,
      body: JSON.stringify({ id: first.kind === "accepted" ? first.job.id : "" }),
    });
    expect(await failure(accept("k2", limited))).to.equal(limited);
    const late = await kit.core.api.acceptGeneration.execute({
      ...{ ...request, requestedAt: kit.clock.now() + 50 },
      idempotency: null,
      limitExceeded: null,
    });
    expect(late.kind === "accepted" && late.job.createdAt).to.equal(kit.clock.now() + 50);
  });
});
