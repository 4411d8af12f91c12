import { expect } from "chai";
import fc from "fast-check";
import { AssertionError } from "../../../../core/assert.js";
import {
  type FermataError,
  GenerationConcurrencyExceededError,
  IdempotencyConflictError,
  IdempotencyKeyConflictError,
  InsufficientCreditsError,
  InvalidModelError,
  ProviderUnavailableError,
} from "../../../../core/errors.js";
import { type AcceptCommand, type AcceptOutcome, decideAcceptance } from "../../../../core/jobs/decide-acceptance.js";
import { aBalance, anId, anIdempotencyRecord, NOON } from "../../../support/builders.js";
import { acceptOneByOne, afterDecision, aGivenKey, anAcceptCommand, aSplitCommand, stateOf } from "./commands.js";

/** What became of each command, in a word. */
function outcomes(results: readonly AcceptOutcome[]): string[] {
  return results.map((result) => (result.kind === "refused" ? result.error.code : result.kind));
}

describe("decideAcceptance", () => {
  it("makes job, reservation and record of a request together", () => {
    const balance = aBalance({ monthly: 3, pack: 10, ledgerSeq: 4 });
    const command = anAcceptCommand(balance.accountId, { idempotency: aGivenKey("k") });
    const decision = decideAcceptance([command], stateOf([balance]));

    const job = { ...command.job, reserved: { monthly: 3, pack: 2 }, creditsCharged: 5 };
    const response = { status: 202, body: JSON.stringify({ id: job.id, credits_charged: 5 }) };
    expect(decision.jobs).to.deep.equal([job]);
    expect(decision.results).to.deep.equal([{ kind: "accepted", job, response: response }]);
    expect(decision.records).to.deep.equal([
      {
        accountId: balance.accountId,
        keyHash: "hash of k",
        shape: "shape",
        body: "body",
        jobId: job.id,
        response: response,
        createdAt: job.createdAt,
        expiresAt: NOON + 86_400_000,
      },
    ]);
    expect(decision.movements).to.have.length(1);
    expect(decision.movements[0]?.after).to.deep.equal({
      ...balance,
      monthly: 0,
      pack: 8,
      reservedMonthly: 3,
      reservedPack: 2,
      runningJobs: 1,
      ledgerSeq: 5,
    });
    expect(decision.movements[0]?.entries.map(({ kind, jobId, seq }) => ({ kind, jobId, seq }))).to.deep.equal([
      { kind: "reserve", jobId: job.id, seq: 5 },
    ]);
  });

  it("keeps no record of a request without a key", () => {
    const balance = aBalance({ monthly: 5 });
    const decision = decideAcceptance([anAcceptCommand(balance.accountId)], stateOf([balance]));
    expect(outcomes(decision.results)).to.deep.equal(["accepted"]);
    expect(decision.results[0]).to.have.property("response", null);
    expect(decision.records).to.deep.equal([]);
  });

  it("writes nothing for a batch in which all is refused or replayed", () => {
    const balance = aBalance({ monthly: 100 });
    const record = anIdempotencyRecord({
      accountId: balance.accountId,
      keyHash: "hash of k",
      shape: "shape",
      body: "body",
    });
    const commands = [
      anAcceptCommand(balance.accountId, { idempotency: aGivenKey("k") }),
      anAcceptCommand(balance.accountId, { refusal: new InvalidModelError() }),
      anAcceptCommand(balance.accountId, { cost: 101 }),
    ];
    const decision = decideAcceptance(commands, stateOf([balance], [record]));
    expect(outcomes(decision.results)).to.deep.equal(["replayed", "invalid_model", "insufficient_credits"]);
    expect([decision.jobs, decision.records, decision.movements]).to.deep.equal([[], [], []]);
  });

  it("puts off what needs a balance that others hold, and replays all the same", () => {
    const [held, free] = [aBalance({ monthly: 100 }), aBalance({ monthly: 100 })];
    const key = aGivenKey("used");
    const record = anIdempotencyRecord({
      accountId: held.accountId,
      keyHash: key.keyHash,
      ...key.fingerprint,
    });
    const state = { ...stateOf([free], [record]), busy: new Set([held.accountId]) };
    const commands = [
      anAcceptCommand(held.accountId),
      anAcceptCommand(held.accountId, { idempotency: key }),
      anAcceptCommand(held.accountId, { refusal: new InvalidModelError() }),
      aSplitCommand(held.accountId, anId("trk"), "order 17"),
      anAcceptCommand(free.accountId),
    ];
    const { results, jobs, movements } = decideAcceptance(commands, state);
    expect(outcomes(results)).to.deep.equal(["busy", "replayed", "busy", "busy", "accepted"]);
    expect(jobs.map(({ id }) => id)).to.deep.equal([commands[4]?.job.id]);
    expect(movements.map(({ after }) => after.accountId)).to.deep.equal([free.accountId]);
  });

  describe("in a batch", () => {
    it("gives the last credits to who came first", () => {
      const balance = aBalance({ monthly: 9 });
      const commands = [4, 4, 4, 1].map((cost) => anAcceptCommand(balance.accountId, { cost }));
      const decision = decideAcceptance(commands, stateOf([balance]));
      expect(outcomes(decision.results)).to.deep.equal(["accepted", "accepted", "insufficient_credits", "accepted"]);
      expect(decision.results[2])
        .to.have.nested.property("error.details")
        .that.deep.equals({ required: 4, available: 1 });
      expect(decision.movements[0]?.after.monthly).to.equal(0);
    });

    it("counts the jobs before a command as running", () => {
      const balance = aBalance({ monthly: 100, runningJobs: 1 });
      const commands = Array.from({ length: 4 }, () => anAcceptCommand(balance.accountId, { concurrencyLimit: 3 }));
      const decision = decideAcceptance(commands, stateOf([balance]));
      expect(outcomes(decision.results)).to.deep.equal([
        "accepted",
        "accepted",
        "generation_concurrency_exceeded",
        "generation_concurrency_exceeded",
      ]);
      expect(decision.results[3]).to.have.nested.property("error.details").that.deep.equals({ limit: 3, running: 3 });
    });

    it("makes one job of two equal requests with one key", () => {
      const balance = aBalance({ monthly: 100 });
      const [first, second] = [
        anAcceptCommand(balance.accountId, { idempotency: aGivenKey("k") }),
        anAcceptCommand(balance.accountId, { idempotency: aGivenKey("k") }),
      ];
      const decision = decideAcceptance([first, second], stateOf([balance]));
      expect(outcomes(decision.results)).to.deep.equal(["accepted", "replayed"]);
      expect(decision.jobs.map(({ id }) => id)).to.deep.equal([first.job.id]);
      expect(decision.results[1]).to.deep.equal({ kind: "replayed", record: decision.records[0] });
    });

    it("refuses other requests with the same key with both kinds of conflict", () => {
      const balance = aBalance({ monthly: 100 });
      const commands = [{}, { body: "other" }, { shape: "other" }, { shape: "other", body: "other" }].map(
        (fingerprint) => anAcceptCommand(balance.accountId, { idempotency: aGivenKey("k", fingerprint) }),
      );
      const decision = decideAcceptance(commands, stateOf([balance]));
      expect(outcomes(decision.results)).to.deep.equal([
        "accepted",
        "idempotency_conflict",
        "idempotency_key_conflict",
        "idempotency_key_conflict",
      ]);
    });

    it("leaves the key of a refused request free for the next one", () => {
      const balance = aBalance({ monthly: 5 });
      const commands = [
        anAcceptCommand(balance.accountId, { cost: 6, idempotency: aGivenKey("k") }),
        anAcceptCommand(balance.accountId, { cost: 5, idempotency: aGivenKey("k", { body: "other" }) }),
      ];
      expect(outcomes(decideAcceptance(commands, stateOf([balance])).results)).to.deep.equal([
        "insufficient_credits",
        "accepted",
      ]);
    });

    it("separates the keys, credits and slots of accounts", () => {
      const [rich, poor] = [aBalance({ monthly: 100 }), aBalance({ monthly: 4 })];
      const commands = [rich, poor, rich, poor].map(({ accountId }) =>
        anAcceptCommand(accountId, { idempotency: aGivenKey("k"), concurrencyLimit: 1 }),
      );
      const decision = decideAcceptance(commands, stateOf([rich, poor]));
      expect(outcomes(decision.results)).to.deep.equal([
        "accepted",
        "insufficient_credits",
        "replayed",
        "insufficient_credits",
      ]);
      expect(decision.movements.map(({ after }) => after.accountId)).to.deep.equal([rich.accountId]);
    });

    it("writes one movement per account, its entries numbered on", () => {
      const [one, two] = [aBalance({ monthly: 100, ledgerSeq: 10 }), aBalance({ monthly: 100 })];
      const commands = [one, two, one].map(({ accountId }) => anAcceptCommand(accountId));
      const { movements } = decideAcceptance(commands, stateOf([one, two]));
      expect(movements.map(({ after, entries }) => [after.accountId, entries.map(({ seq }) => seq)])).to.deep.equal([
        [one.accountId, [11, 12]],
        [two.accountId, [1]],
      ]);
    });
  });

  describe("refuses with the first of several reasons:", () => {
    const full = aBalance({ monthly: 0, runningJobs: 10 });
    const used = anIdempotencyRecord({
      accountId: full.accountId,
      keyHash: "hash of used",
      shape: "shape",
      body: "body",
    });
    const refusal = new ProviderUnavailableError();
    const decideOne = (overrides: Partial<AcceptCommand>, balance = full): AcceptOutcome | undefined =>
      decideAcceptance([anAcceptCommand(balance.accountId, overrides)], stateOf([balance], [used])).results[0];
    const errorOf = (result: AcceptOutcome | undefined): FermataError | null =>
      result?.kind === "refused" ? result.error : null;

    it("a replay, also where the request would be refused for another reason", () => {
      expect(decideOne({ idempotency: aGivenKey("used"), refusal })).to.deep.equal({ kind: "replayed", record: used });
    });

    it("a conflict before any other refusal", () => {
      const values = decideOne({ idempotency: aGivenKey("used", { body: "other" }), refusal });
      expect(errorOf(values)).to.be.instanceOf(IdempotencyConflictError);
      const shape = decideOne({ idempotency: aGivenKey("used", { shape: "other" }), refusal });
      expect(errorOf(shape)).to.be.instanceOf(IdempotencyKeyConflictError);
    });

    it("what was found before, then concurrency, then credits", () => {
      expect(errorOf(decideOne({ refusal }))).to.equal(refusal);
      expect(errorOf(decideOne({}))).to.be.instanceOf(GenerationConcurrencyExceededError);
      expect(errorOf(decideOne({}, { ...full, runningJobs: 9 }))).to.be.instanceOf(InsufficientCreditsError);
    });
  });

  it("throws for what only a bug can break, instead of refusing", () => {
    expect(() => decideAcceptance([anAcceptCommand(anId("acct"))], stateOf([]))).to.throw(AssertionError);
  });

  describe("on any batch", () => {
    const accounts = [anId("acct"), anId("acct"), anId("acct")] as const;
    const tracks = [anId("trk"), anId("trk")] as const;
    const anyCommand = fc
      .record({
        account: fc.constantFrom(...accounts),
        cost: fc.nat({ max: 8 }),
        limit: fc.integer({ min: 1, max: 6 }),
        key: fc.option(fc.constantFrom("a", "b", "c"), { nil: null }),
        split: fc.option(
          fc.record({ reference: fc.constantFrom("a", "b"), sourceTrackId: fc.constantFrom(...tracks) }),
          { nil: null },
        ),
        fingerprint: fc.constantFrom({}, {}, { body: "other" }, { shape: "other" }),
        refused: fc.nat({ max: 9 }),
      })
      .map(({ account, cost, limit, key, split, fingerprint, refused }) => {
        const options = { cost, concurrencyLimit: limit, refusal: refused === 0 ? new InvalidModelError() : null };
        if (split !== null) return aSplitCommand(account, split.sourceTrackId, split.reference, options);
        return anAcceptCommand(account, { ...options, idempotency: key === null ? null : aGivenKey(key, fingerprint) });
      });
    const anyBatch = fc.array(anyCommand, { maxLength: 25 });
    const anyState = fc
      .tuple(
        ...accounts.map((accountId) =>
          fc.record({ accountId: fc.constant(accountId), monthly: fc.nat({ max: 25 }), pack: fc.nat({ max: 15 }) }),
        ),
      )
      .map((balances) => stateOf(balances.map((balance) => aBalance(balance))));

    it("decides as on the same commands one by one", () => {
      fc.assert(
        fc.property(anyBatch, anyState, (commands, state) => {
          const batch = decideAcceptance(commands, state);
          const single = acceptOneByOne(commands, state);
          expect(batch.results).to.deep.equal(single.results);
          expect(batch.jobs).to.deep.equal(single.jobs);
          expect(batch.records).to.deep.equal(single.records);
          expect(afterDecision(state, batch).balances).to.deep.equal(single.state.balances);
          for (const { after, entries } of batch.movements) {
            const alone = single.movements.filter((movement) => movement.after.accountId === after.accountId);
            expect(entries).to.deep.equal(alone.flatMap((movement) => movement.entries));
          }
        }),
        { numRuns: 60 },
      );
    });

    it("never overdraws, never passes a limit, and writes exactly one entry per accepted job", () => {
      fc.assert(
        fc.property(anyBatch, anyState, (commands, state) => {
          const decision = decideAcceptance(commands, state);
          for (const { after } of decision.movements) {
            expect(Math.min(after.monthly, after.pack, after.reservedMonthly, after.reservedPack)).to.be.at.least(0);
            expect(after.runningJobs).to.equal(
              decision.jobs.filter(({ accountId }) => accountId === after.accountId).length,
            );
          }
          const entries = decision.movements.flatMap((movement) => movement.entries);
          expect(entries.map(({ jobId }) => jobId).sort()).to.deep.equal(decision.jobs.map(({ id }) => id).sort());
          for (const job of decision.jobs) {
            const entry = entries.find(({ jobId }) => jobId === job.id);
            expect(entry).to.include({ reservedMonthly: job.reserved.monthly, reservedPack: job.reserved.pack });
            expect(job.reserved.monthly + job.reserved.pack).to.equal(job.creditsCharged);
          }
          const running = new Map<string, number>();
          commands.forEach((command, index) => {
            const { accountId } = command.job;
            if (decision.results[index]?.kind !== "accepted") return;
            expect(running.get(accountId) ?? 0).to.be.below(command.concurrencyLimit);
            running.set(accountId, (running.get(accountId) ?? 0) + 1);
          });
        }),
      );
    });

    it("decides the same again, since ids come from outside", () => {
      fc.assert(
        fc.property(anyBatch, anyState, (commands, state) => {
          expect(decideAcceptance(commands, state)).to.deep.equal(decideAcceptance(commands, state));
        }),
        { numRuns: 30 },
      );
    });

    it("replays every keyed job, and repeats every split with a reference, when the whole batch is sent again", () => {
      fc.assert(
        fc.property(anyBatch, anyState, (commands, state) => {
          const first = decideAcceptance(commands, state);
          const again = decideAcceptance(commands, afterDecision(state, first));
          commands.forEach((command, index) => {
            const result = first.results[index];
            if (result === undefined || result.kind === "refused" || result.kind === "busy") return;
            if (command.job.reference !== null && result.kind !== "replayed") {
              expect(again.results[index]).to.deep.equal({ kind: "repeated", job: result.job });
            }
            if (command.idempotency === null) return;
            const jobId = result.kind === "replayed" ? result.record.jobId : result.job.id;
            expect(again.results[index]).to.have.property("kind", "replayed");
            expect(again.results[index]).to.have.nested.property("record.jobId", jobId);
          });
        }),
        { numRuns: 50 },
      );
    });
  });

  it("accepts a command again whose job an earlier run has created, and writes nothing again", () => {
    const balance = aBalance({ monthly: 10 });
    const command = anAcceptCommand(balance.accountId, { idempotency: aGivenKey("k") });
    const first = decideAcceptance([command], stateOf([balance]));
    const result = new Map(first.jobs.map((job) => [job.id, job]));
    const again = decideAcceptance([command], { ...afterDecision(stateOf([balance]), first), created: result });
    expect(again).to.deep.equal({ results: first.results, jobs: [], records: [], movements: [] });
  });
});
