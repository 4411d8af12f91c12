import { expect } from "chai";
import { IdempotencyConflictError, InsufficientCreditsError, ServiceUnavailableError } from "../../../core/errors.js";
import type { AccountId } from "../../../core/ids.js";
import { AcceptJobs } from "../../../core/jobs/accept-jobs.js";
import type { AcceptCommand, AcceptIdempotency } from "../../../core/jobs/decide-acceptance.js";
import type { Job } from "../../../core/jobs/job.js";
import type { CorePorts } from "../../../core/ports/core-ports.js";
import type { JobNotification } from "../../../core/ports/job-queue.js";
import type { HostTransaction, UnitOfWork } from "../../../core/ports/unit-of-work.js";
import { aHash, aJob } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { RecordingTracer } from "../../support/doubles/recording-tracer.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

describe("AcceptJobs", () => {
  let memory: MemoryCore;
  let accountId: AccountId;
  let notified: JobNotification[];
  beforeEach(async () => {
    memory = await memoryCore();
    notified = [];
    accountId = (await memory.storage.addAccount({}, { pack: 100 })).id;
  });

  function accepting(given: Partial<CorePorts> = {}): AcceptJobs {
    const queue = { ...memory.ports.queue, notify: (all: readonly JobNotification[]) => void notified.push(...all) };
    return new AcceptJobs({ ...memory.ports, queue, ...given });
  }
  function aCommand(given: Partial<AcceptCommand> = {}, job: Partial<Job> = {}): AcceptCommand {
    const noCredits = { reserved: { monthly: 0, pack: 0 }, creditsCharged: 0 };
    const wanted = aJob({ ...noCredits, accountId, createdAt: 5, ...job });
    return { job: wanted, cost: 10, concurrencyLimit: 9, idempotency: null, refusal: null, ...given };
  }
  const keyed = (body = aHash(), keyHash = aHash()): { readonly idempotency: AcceptIdempotency } => ({
    idempotency: {
      keyHash,
      fingerprint: { shape: "a".repeat(64), body },
      expiresAt: memory.clock.now() + 60_000,
      present: ({ id }) => ({ status: 202, body: id }),
    },
  });
  const balance = () => memory.storage.balanceOf(accountId);
  /** Everything runs twice, as after a reply to a commit that was lost. */
  const twice = (): UnitOfWork =>
    new FaultyPort(memory.storage.unitOfWork).on("inTransaction", async (run, work) => {
      await run(work);
      return run((tx) => work(tx, { isRetry: true }));
    });

  it("creates the job, reserves its credits and notifies workers", async () => {
    const command = aCommand();
    const result = await accepting().accept(command);
    expect(result.kind).to.equal("accepted");
    const stored = (await memory.storage.jobs.findJobs([command.job.id])).get(command.job.id);
    expect(result).to.deep.include({ job: stored });
    expect(await balance()).to.include({ pack: 90, reservedPack: 10, runningJobs: 1 });
    expect(notified).to.deep.equal([{ jobId: command.job.id, providerId: "synth" }]);
    expect(memory.metrics.counted).to.deep.equal([["group", "accept"]]);
  });

  it("refuses a job that cannot be paid, and notifies no worker of it", async () => {
    const [good, dear] = [aCommand(), aCommand({ cost: 101 })];
    const jobs = accepting();
    const [accepted, refused] = await Promise.all([jobs.accept(good), jobs.accept(dear)]);
    expect([accepted.kind, refused.kind]).to.deep.equal(["accepted", "refused"]);
    expect(refused.kind === "refused" && refused.error).to.be.instanceOf(InsufficientCreditsError);
    expect(notified.map(({ jobId }) => jobId)).to.deep.equal([good.job.id]);
    expect((await memory.storage.jobs.findJobs([dear.job.id])).size).to.equal(0);
  });

  it("takes commands that come together into one commit", async () => {
    let commits = 0;
    const unitOfWork = new FaultyPort(memory.storage.unitOfWork).on("inTransaction", (run, work) => {
      commits += 1;
      return run(work);
    });
    const jobs = accepting({ unitOfWork, metrics: null });
    const results = await Promise.all([1, 2, 3].map(() => jobs.accept(aCommand())));
    expect(results.map(({ kind }) => kind)).to.deep.equal(["accepted", "accepted", "accepted"]);
    expect([commits, (await balance()).pack]).to.deep.equal([1, 70]);
    expect(memory.metrics.counted).to.deep.equal([]);
  });

  it("creates one job for a key, whose response is replayed while others hold its balance", async () => {
    let areBusy = false;
    const ledger = new FaultyPort(memory.storage.ledger).on("tryLockBalances", async (lock, tx, ids) =>
      areBusy ? { locked: new Map(), busy: new Set(ids) } : lock(tx, ids),
    );
    const jobs = accepting({ ledger });
    const key = keyed();
    const first = aCommand(key);
    expect((await jobs.accept(first)).kind).to.equal("accepted");
    areBusy = true;
    const again = await jobs.accept(aCommand(key));
    expect(again.kind === "replayed" && again.record).to.include({ jobId: first.job.id });
    const elsewhere = await accepting({ ledger }).accept(aCommand(key));
    expect(elsewhere.kind === "replayed" && elsewhere.record, "by a process that does not know it").to.include({
      jobId: first.job.id,
    });
    expect((await balance()).pack).to.equal(90);
    const other = await jobs.accept(aCommand(keyed(aHash(), key.idempotency.keyHash)));
    expect(other.kind).to.equal("refused");
    expect(notified).to.have.length(1);
  });

  it("returns the response of a key that it knows while no transaction begins", async () => {
    let isDown = false;
    const unitOfWork = new FaultyPort(memory.storage.unitOfWork).on("inTransaction", (run, work) => {
      if (isDown) throw new ServiceUnavailableError();
      return run(work);
    });
    const jobs = accepting({ unitOfWork });
    const key = keyed();
    const first = aCommand(key);
    await jobs.accept(first);
    isDown = true;
    const { accountId } = first.job;
    const again = await jobs.replayKnown(accountId, key.idempotency);
    expect(again?.record.response).to.deep.equal({ status: 202, body: first.job.id });
    const { idempotency: other } = keyed(aHash(), key.idempotency.keyHash);
    const conflict = await jobs.replayKnown(accountId, other).catch((error: unknown) => error);
    expect(conflict).to.be.instanceOf(IdempotencyConflictError);
    expect(await jobs.replayKnown(accountId, keyed().idempotency)).to.equal(null);
    expect(await accepting({ unitOfWork }).replayKnown(accountId, key.idempotency), "by another process").to.equal(
      null,
    );
  });

  it("takes a key that it knows for another job once it has expired", async () => {
    const jobs = accepting();
    const { idempotency } = keyed();
    const first = aCommand({ idempotency });
    await jobs.accept(first);
    await memory.clock.advance(60_000);
    expect(await jobs.replayKnown(first.job.accountId, idempotency)).to.equal(null);
    const second = aCommand({ idempotency: { ...idempotency, expiresAt: memory.clock.now() + 60_000 } });
    expect((await jobs.accept(second)).kind).to.equal("accepted");
    const third = await jobs.accept(aCommand({ idempotency }));
    expect(third.kind === "replayed" && third.record.jobId).to.equal(second.job.id);
  });

  it("does not know the key of a refused job", async () => {
    const jobs = accepting();
    const { idempotency } = keyed();
    const refused = aCommand({ idempotency, cost: 101 });
    expect((await jobs.accept(refused)).kind).to.equal("refused");
    expect(await jobs.replayKnown(refused.job.accountId, idempotency)).to.equal(null);
    expect((await jobs.accept(aCommand({ idempotency }))).kind).to.equal("accepted");
  });

  it("creates it once, also when the reply to the commit is lost", async () => {
    const command = aCommand();
    const result = await accepting({ unitOfWork: twice() }).accept(command);
    expect(result).to.include({ kind: "accepted" });
    expect(result.kind === "accepted" && result.job.request).to.deep.equal(command.job.request);
    expect(await balance()).to.include({ pack: 90, runningJobs: 1 });
  });

  it("finds what an account called the same before", async () => {
    const jobs = accepting();
    const split = { kind: "stem_split", reference: "order 7" } as const;
    const first = aCommand({}, split);
    await jobs.accept(first);
    const again = await jobs.accept(aCommand({}, split));
    expect(again).to.include({ kind: "repeated" });
    expect(again.kind === "repeated" && again.job.id).to.equal(first.job.id);
    expect((await balance()).pack).to.equal(90);
  });

  it("leaves a command whose balance others hold to a later group, and accepts the others", async () => {
    const { id: other } = await memory.storage.addAccount({}, { pack: 100 });
    let groups = 0;
    const ledger = new FaultyPort(memory.storage.ledger).on("tryLockBalances", async (lock, tx, ids) => {
      groups += 1;
      const { locked } = await lock(tx, ids);
      if (groups > 1) return { locked, busy: new Set() };
      return { locked: new Map([...locked].filter(([id]) => id !== accountId)), busy: new Set([accountId]) };
    });
    const jobs = accepting({ ledger });
    const [busy, free] = [jobs.accept(aCommand()), jobs.accept(aCommand({}, { accountId: other }))];
    expect((await free).kind).to.equal("accepted");
    expect(notified).to.have.length(1);
    await memory.clock.advance(10);
    expect((await busy).kind).to.equal("accepted");
    expect(notified).to.have.length(2);
  });

  it("writes what is to be written alongside an acceptance, and nothing alongside a refusal", async () => {
    const noted: string[] = [];
    const alongside = async (_tx: unknown, { id }: Job): Promise<void> => void noted.push(id);
    const jobs = accepting();
    const good = aCommand({ alongside });
    await Promise.all([jobs.accept(good), jobs.accept(aCommand({ alongside, cost: 101 }))]);
    expect(noted).to.deep.equal([good.job.id]);
    const failing = aCommand({ alongside: () => Promise.reject(new Error("no record")) });
    expect(String(await jobs.accept(failing).catch((error: unknown) => error))).to.include("no record");
    expect((await balance()).pack).to.equal(90);
  });

  describe("in a transaction of an embedding app", () => {
    const own: HostTransaction = { name: "theirs" };

    /** Joins the app's transaction, which is committed or not, and whose reply may be lost. */
    function joining(isCommitted = true, isRetry = false): UnitOfWork {
      const { inTransaction, unitOfWork } = memory.storage;
      return {
        ...{ concurrentWriters: unitOfWork.concurrentWriters, inTransaction },
        join: async (transaction, work, committed) => {
          expect(transaction).to.equal(own);
          const result = await inTransaction((tx) => work(tx, { isRetry }));
          if (isCommitted) committed(result);
          return result;
        },
      };
    }

    it("creates the job, and notifies workers once the app has committed", async () => {
      expect((await accepting({ unitOfWork: joining() }).accept(aCommand(), own)).kind).to.equal("accepted");
      expect(notified).to.have.length(1);
      expect((await accepting({ unitOfWork: joining(false) }).accept(aCommand(), own)).kind).to.equal("accepted");
      expect(notified).to.have.length(1);
      expect(await balance()).to.include({ pack: 80 });
    });

    it("returns the job of a key as that transaction sees it", async () => {
      const key = keyed();
      const first = aCommand(key);
      await accepting().accept(first);
      const replayed = await accepting({ unitOfWork: joining() }).accept(aCommand(key), own);
      expect(replayed.kind === "replayed" && replayed.job).to.deep.include({ id: first.job.id, status: "queued" });
      memory.storage.sql("DELETE FROM fermata_jobs");
      const gone = await accepting({ unitOfWork: joining() }).accept(aCommand(key), own);
      expect(gone.kind === "replayed" && gone.job).to.equal(null);
    });

    it("waits for the balance for a new job, also of a key that has expired, and not for a replay", async () => {
      let locks = 0;
      const ledger = new FaultyPort(memory.storage.ledger).on("lockBalances", (lock, tx, ids) => {
        locks += 1;
        return lock(tx, ids);
      });
      const jobs = accepting({ ledger, unitOfWork: joining() });
      const { idempotency } = keyed();
      const kinds: string[] = [];
      for (const advanceMs of [0, 59_999, 1]) {
        await memory.clock.advance(advanceMs);
        const again = { ...idempotency, expiresAt: memory.clock.now() + 60_000 };
        kinds.push(`${(await jobs.accept(aCommand({ idempotency: again }), own)).kind}, ${locks}`);
      }
      expect(kinds).to.deep.equal(["accepted, 1", "replayed, 1", "accepted, 2"]);
    });

    it("finds its own job when it runs again", async () => {
      const command = aCommand();
      await accepting().accept(command);
      const again = await accepting({ unitOfWork: joining(true, true) }).accept(command, own);
      expect(again.kind === "accepted" && again.job.id).to.equal(command.job.id);
      expect(await balance()).to.include({ pack: 90 });
    });
  });

  describe("with traces", () => {
    async function traced(command: AcceptCommand, before: readonly AcceptCommand[] = []) {
      const tracer = new RecordingTracer(() => memory.clock.now());
      const plain = accepting();
      for (const one of before) await plain.accept(one);
      const request = tracer.start({ name: "request", parent: null });
      await tracer.within(request, () => accepting({ tracer }).accept(command));
      return { span: tracer.ended[0], request };
    }

    it("records the creation of a job as a part of the request, and keeps the trace with the job", async () => {
      const command = aCommand();
      const { span, request } = await traced(command);
      expect(span).to.include({ name: "create job", kind: "producer" });
      expect(span?.parentId).to.equal(request.context.traceparent.slice(36, 52));
      expect(span?.attributes).to.deep.equal({
        "messaging.system": "fermata",
        "messaging.destination.name": "jobs",
        "messaging.operation.name": "create",
        "messaging.operation.type": "create",
        "fermata.operation": "music_synth_full",
        "fermata.provider": "synth",
        "fermata.acceptance": "accepted",
        "messaging.message.id": command.job.id,
      });
      const stored = (await memory.storage.jobs.findJobs([command.job.id])).get(command.job.id);
      expect(stored?.trace?.traceparent.slice(36, 52)).to.equal(span?.spanId);
    });

    it("says which job was replayed or repeated, and why one was refused", async () => {
      const key = keyed();
      const first = aCommand(key);
      const replayed = await traced(aCommand(key), [first]);
      expect(replayed.span?.attributes).to.include({
        ...{ "fermata.acceptance": "replayed", "messaging.message.id": first.job.id },
      });
      const tracer = new RecordingTracer(() => memory.clock.now());
      const knowing = accepting({ tracer });
      const request = tracer.start({ name: "request", parent: null });
      const third = keyed();
      const created = aCommand(third);
      await tracer.within(request, () => knowing.accept(created));
      await tracer.within(request, () => knowing.replayKnown(created.job.accountId, third.idempotency));
      expect(tracer.ended.map(({ name, attributes }) => [name, attributes["fermata.acceptance"]])).to.deep.equal([
        ["create job", "accepted"],
        ["create job", "replayed"],
      ]);
      const split = { kind: "stem_split", reference: "order 7" } as const;
      const known = aCommand({}, split);
      const repeated = await traced(aCommand({}, split), [known]);
      expect(repeated.span?.attributes).to.include({
        ...{ "fermata.acceptance": "repeated", "messaging.message.id": known.job.id },
      });
      const refused = await traced(aCommand({ cost: 1_000 }));
      expect(refused.span?.attributes).to.include({
        ...{ "fermata.acceptance": "refused", "error.type": "insufficient_credits" },
      });
      expect(refused.span?.attributes).not.to.have.property("messaging.message.id");
    });
  });
});
