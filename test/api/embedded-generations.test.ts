import { expect } from "chai";
import type { FermataError } from "../../core/index.js";
import { anId } from "../support/builders.js";
import { submitFails, submitHolds } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { A_GENERATION, dataOf } from "../support/api-client.js";

const INPUT = { modelId: "scripted/song", prompt: "slow sad piano" };
const MEMBERS = [
  ...["id", "accountId", "kind", "modelId", "status", "creditsCharged", "request", "error"],
  ...["createdAt", "completedAt", "tracks", "outputs"],
];

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "none",
    (error: unknown) => (error as FermataError).code,
  );
}

describe("Generations of an embedding app", () => {
  let test: TestApp;
  let caller: TestAccount;
  beforeEach(async () => {
    test = await startTestApp({ work: true });
    caller = await test.account({ credits: 100 });
  });
  afterEach(() => test.close());

  it("are created by the account's id, waited for to their end, and have no internals", async () => {
    const { generations, credits } = test.app;
    const created = await generations.create(caller.account.id, INPUT);
    expect(created).to.have.all.keys(...MEMBERS, "isRepeated");
    expect(created).to.include({ accountId: caller.account.id, kind: "music", isRepeated: false });
    expect(created.tracks).to.deep.equal([]);
    const ended = await generations.wait(created.id);
    expect(ended).to.have.all.keys(...MEMBERS);
    expect(ended).to.include({ id: created.id, status: "completed", error: null });
    expect(ended.tracks.map(({ title }) => title)).to.deep.equal(["Rain on a tin roof"]);
    expect(await generations.get(created.id)).to.deep.equal(ended);
    expect(await generations.list(caller.account.id)).to.deep.equal([ended]);
    expect((await credits.balance(caller.account.id)).spent)
      .to.equal(ended.creditsCharged)
      .and.to.be.above(0);
    const shown = dataOf<{ id: string; status: string }>(await caller.api.get(`/api/v1/generations/${created.id}`));
    expect(shown).to.include({ id: created.id, status: "completed" });
  });

  it("say why they failed, and cost nothing", async () => {
    test.provider.behaviour = submitFails("content_rejected");
    const { generations } = test.app;
    const { id } = await generations.create(caller.account.id, INPUT);
    const ended = await generations.wait(id);
    expect(ended).to.include({ status: "failed", creditsCharged: 0 });
    expect(ended.error).to.have.property("message").that.is.not.equal("");
    expect(ended.tracks).to.deep.equal([]);
  });

  it("are created once under a key, also when two calls come at the same time", async () => {
    const { generations, credits } = test.app;
    const all = await Promise.all(
      Array.from({ length: 5 }, () => generations.create(caller.account.id, INPUT, { key: "order 17" })),
    );
    expect(new Set(all.map(({ id }) => id)).size).to.equal(1);
    expect(all.filter(({ isRepeated }) => !isRepeated)).to.have.length(1);
    const id = all[0]?.id ?? "";
    const ended = await generations.wait(id);
    const again = await generations.create(caller.account.id, { ...INPUT, lyrics: undefined }, { key: "order 17" });
    expect(again).to.deep.equal({ ...ended, isRepeated: true });
    expect((await credits.balance(caller.account.id)).spent).to.equal(ended.creditsCharged);
    const other = await test.account();
    expect(await generations.create(other.account.id, INPUT, { key: "order 17" })).to.include({ isRepeated: false });
  });

  it("refuse a key that was used for something else, here or in a request of the API", async () => {
    const { generations } = test.app;
    await generations.create(caller.account.id, INPUT, { key: "order 17" });
    const create = (input: object, key: string): Promise<unknown> =>
      generations.create(caller.account.id, { ...INPUT, ...input }, { key });
    expect(await codeOf(create({ prompt: "fast piano" }, "order 17"))).to.equal("idempotency_conflict");
    expect(await codeOf(create({ duration: 30 }, "order 17"))).to.equal("idempotency_key_conflict");
    expect((await caller.api.generate(A_GENERATION, { "Idempotency-Key": "from the API" })).status).to.equal(202);
    expect(await codeOf(create({}, "from the API"))).to.equal("idempotency_key_conflict");
    for (const key of ["", "ü", "x".repeat(256)]) expect(await codeOf(create({}, key)), key).to.match(/^i/);
    expect(await generations.list(caller.account.id)).to.have.length(2);
  });

  it("are returned as they are when a wait is aborted or takes too long", async () => {
    const held = submitHolds();
    test.provider.behaviour = held.behaviour;
    const { generations } = test.app;
    const { id } = await generations.create(caller.account.id, INPUT);
    expect((await generations.wait(id, { timeoutMs: 0 })).completedAt).to.equal(null);
    const waiting = new AbortController();
    const waited = generations.wait(id, { signal: waiting.signal });
    waiting.abort();
    expect((await waited).completedAt).to.equal(null);
    held.release();
  });

  it("are refused by the errors of the API, with nothing reserved", async () => {
    const { generations, credits } = test.app;
    const { id } = caller.account;
    const before = await credits.balance(id);
    expect(await codeOf(generations.create(anId("acct"), INPUT))).to.equal("invalid_request");
    expect(await codeOf(generations.create(id, { ...INPUT, modelId: "none/such" }))).to.equal("invalid_model");
    expect(await codeOf(generations.create(id, { ...INPUT, prompt: "" }))).to.equal("invalid_request");
    expect(await codeOf(generations.create(id, INPUT, { requestId: "17" as never }))).to.equal("invalid_request");
    const poor = await test.account({ credits: 0 });
    expect(await codeOf(generations.create(poor.account.id, INPUT))).to.equal("insufficient_credits");
    expect(await credits.balance(id)).to.deep.equal(before);
  });

  it("are found by their id, and by their account where one is given", async () => {
    const { generations } = test.app;
    const { id } = await generations.create(caller.account.id, INPUT);
    const other = await test.account();
    expect((await generations.get(id, { accountId: caller.account.id })).id).to.equal(id);
    for (const call of [
      () => generations.get(id, { accountId: other.account.id }),
      () => generations.get(anId("job")),
      () => generations.get("17"),
      () => generations.wait(anId("job")),
      () => generations.wait("17"),
    ]) {
      expect(await codeOf(call())).to.equal("job_not_found");
    }
    expect(await generations.list(other.account.id)).to.deep.equal([]);
    expect(await generations.list("17")).to.deep.equal([]);
    for (const limit of [0, 51, 1.5])
      expect(await codeOf(generations.list(other.account.id, { limit }))).to.equal("invalid_request");
  });
});
