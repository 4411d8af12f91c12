import { expect } from "chai";
import { type MusicProvider, ProviderFailure } from "../../../core/ports/music-provider.js";
import { SCRIPTED_TRACK, submitAccepts, submitHolds } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers, type MemoryWorkers, type MemoryWorkersOptions } from "../../support/memory-workers.js";

const SECOND = 1_000;
const HANDLE = { version: 1, data: { task: "next" } };

/** A provider that accepts work and is polled every second. */
async function accepting(given: MemoryWorkersOptions = {}): Promise<MemoryWorkers> {
  const kit = await memoryWorkers(given);
  kit.provider.behaviour = submitAccepts(SECOND);
  return kit;
}

describe("Accepted work", () => {
  it("is polled when the provider says, with its latest handle, and completes", async () => {
    const kit = await accepting();
    const said = [
      { state: "running", nextPollMs: 4 * SECOND, handle: HANDLE, progress: { percent: 50 } } as const,
      { state: "completed", tracks: [SCRIPTED_TRACK], cost: { amount: 0.5, unit: "USD" } } as const,
    ];
    kit.provider.pollBehaviour = () => Promise.resolve(said.shift() ?? expect.fail("It has ended."));
    const id = await kit.accept();
    await kit.start();
    await kit.pass(SECOND);
    expect((await kit.attempts(id))[0]).to.deep.include({ state: "accepted", handle: HANDLE });
    expect((await kit.attempts(id))[0]?.progress).to.include({ percent: 50 });
    await kit.pass(4 * SECOND - 1);
    expect(kit.provider.polls).to.have.length(1);
    await kit.pass(1);
    expect(kit.provider.polls.map(({ data }) => data)).to.deep.equal([{ task: id }, HANDLE.data]);
    expect(await kit.job(id)).to.include({ status: "completed", creditsCharged: 10 });
    expect((await kit.attempts(id))[0]).to.deep.include({ state: "settled", cost: { amount: 0.5, unit: "USD" } });
  });

  it("is refunded when a poll reports a failure with a reason", async () => {
    const kit = await accepting();
    kit.provider.pollBehaviour = () => Promise.reject(new ProviderFailure("failed", "no GPU", { providerCode: "E7" }));
    const id = await kit.accept();
    await kit.start();
    await kit.pass(SECOND);
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
    expect((await kit.attempts(id))[0]).to.include({ state: "failed", message: "no GPU (code E7)" });
  });

  it("is polled again while that fails, also without a reason", async () => {
    const kit = await accepting({ options: { breaker: { failures: 2, openMs: 600_000 } } });
    const failures = [new ProviderFailure("unavailable", "away"), new Error("a socket died"), new Error("another")];
    kit.provider.pollBehaviour = () => {
      const failure = failures.shift();
      return failure === undefined
        ? Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] })
        : Promise.reject(failure);
    };
    const id = await kit.accept();
    await kit.start();
    await kit.pass(30 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.messages().filter((message) => message === "A poll failed")).to.have.length(3);
    expect(kit.provider.submissions).to.have.length(1);
  });

  it("counts polls that cannot reach the provider against it, and nothing that it answers", async () => {
    const opened = async (failure: ProviderFailure): Promise<boolean> => {
      const kit = await accepting({ options: { breaker: { failures: 1, openMs: 600_000 } } });
      kit.provider.pollBehaviour = () => Promise.reject(failure);
      await kit.accept();
      await kit.start();
      await kit.pass(SECOND);
      return kit.messages().includes("The circuit breaker of a provider opened");
    };
    const cause = new Error("ECONNREFUSED");
    expect(await opened(new ProviderFailure("unavailable", "not now", { cause }))).to.equal(true);
    expect(await opened(new ProviderFailure("misconfigured", "no key"))).to.equal(true);
    for (const kind of ["unavailable", "rate_limited", "timeout"] as const)
      expect(await opened(new ProviderFailure(kind, "not now"))).to.equal(false);
  });

  it("whose replies say nothing of it is given up at its deadline with the last of them", async () => {
    const kit = await accepting({
      options: { breaker: { failures: 1, openMs: 600_000 } },
      jobs: { renderDeadlineMs: 60 * SECOND },
    });
    const words = 'The status "pondering" is not among statusWords.';
    kit.provider.pollBehaviour = () => Promise.reject(new ProviderFailure("unavailable", words));
    const id = await kit.accept();
    await kit.start();
    await kit.pass(5 * SECOND);
    expect((await kit.attempts(id))[0]).to.include({ state: "accepted", message: words });
    await kit.pass(15 * 60 * SECOND);
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
    expect((await kit.attempts(id))[0]).to.include({ state: "abandoned", message: words });
    expect(kit.messages()).to.not.include("The circuit breaker of a provider opened");
  });

  it("fails where the plugin cannot poll", async () => {
    const kit = await accepting({ working: { poll: null } });
    const id = await kit.accept();
    await kit.start();
    await kit.pass(SECOND);
    expect(await kit.job(id)).to.include({ status: "failed" });
    expect((await kit.attempts(id))[0]?.message).to.include("The plugin cannot poll work that it accepted.");
  });

  it("is given up at its deadline after a last poll, and cancelled at the provider", async () => {
    const kit = await accepting({
      capabilities: { cancel: true },
      jobs: { renderDeadlineMs: 60 * SECOND },
      options: { maintenance: { everyMs: 5 * SECOND } },
    });
    const cancelled: unknown[] = [];
    kit.provider.cancel = async ({ data }) => {
      cancelled.push(data);
      return "cancelled";
    };
    kit.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 600_000 });
    const id = await kit.accept();
    await kit.start();
    await kit.pass(75 * SECOND);
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
    expect(kit.provider.polls).to.have.length(2);
    await kit.pass(5 * SECOND);
    expect(cancelled).to.deep.equal([{ task: id }]);
    expect((await kit.attempts(id))[0]).to.deep.include({ state: "abandoned", cancelDueAt: null, handle: null });
  });
});

describe("Work that is wanted no more", () => {
  const cancelling = (cancel: NonNullable<MusicProvider["cancel"]>): Promise<MemoryWorkers> =>
    accepting({ capabilities: { cancel: true } }).then((kit) =>
      Object.assign(kit, void (kit.provider.cancel = cancel)),
    );

  it("is cancelled at the provider, and refunded when that confirms it", async () => {
    const kit = await cancelling(async () => "cancelled");
    const id = await kit.accept();
    await kit.start();
    await kit.core.jobs.cancel(id);
    await kit.pass();
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
    const line = kit.logger.lines.find(({ message }) => message === "A provider was asked to cancel an attempt");
    expect(line?.fields).to.include({ job_id: id, attempt: 1, provider: "scripted", outcome: "cancelled" });
  });

  it("runs to its end and is paid when it is too late", async () => {
    const kit = await cancelling(async () => "too_late");
    const id = await kit.accept();
    await kit.start();
    const answered = kit.core.jobs.cancel(id);
    await kit.pass(3 * SECOND);
    await answered;
    expect(await kit.job(id)).to.include({ status: "completed", creditsCharged: 10 });
  });

  it("is cancelled again a minute later while the provider cannot be asked, and not where it never can", async () => {
    let asked = 0;
    const kit = await cancelling(() => Promise.reject(new ProviderFailure(++asked > 1 ? "gone" : "unavailable", "no")));
    kit.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 3_600_000 });
    const id = await kit.accept();
    await kit.start();
    await kit.core.jobs.cancel(id, { force: true });
    await kit.pass(2 * SECOND);
    expect(asked).to.equal(1);
    expect(kit.messages()).to.include("A provider could not be asked to cancel an attempt");
    await kit.pass(62 * SECOND);
    expect(asked).to.equal(2);
    expect((await kit.attempts(id))[0]).to.deep.include({ cancelDueAt: null, handle: null });
    await kit.pass(120 * SECOND);
    expect(asked).to.equal(2);
  });

  it("is asked about no longer a quarter of an hour after it was abandoned", async () => {
    let asked = 0;
    const kit = await cancelling(() => Promise.reject(new ProviderFailure("unavailable", `no ${++asked}`)));
    const id = await kit.accept();
    const workers = await kit.start();
    await kit.core.jobs.cancel(id, { force: true });
    await kit.stop(workers);
    const before = asked;
    kit.clock.set(kit.clock.now() + 15 * 60 * SECOND + 1);
    await kit.start();
    expect(asked).to.equal(before);
    expect((await kit.attempts(id))[0]).to.deep.include({ cancelDueAt: null, handle: null });
  });

  it("is left alone where the plugin has no way to cancel", async () => {
    const kit = await accepting({ capabilities: { cancel: true } });
    const id = await kit.accept();
    await kit.start();
    const answered = kit.core.jobs.cancel(id);
    await kit.pass(3 * SECOND);
    await answered;
    expect(await kit.job(id)).to.include({ status: "completed" });
  });

  it("is cancelled once its submission returns", async () => {
    const kit = await memoryWorkers({ capabilities: { cancel: true } });
    let cancelled = 0;
    kit.provider.cancel = async () => {
      cancelled += 1;
      return "cancelled";
    };
    const held = submitHolds(submitAccepts(60 * SECOND));
    kit.provider.behaviour = held.behaviour;
    const id = await kit.accept();
    await kit.start();
    await kit.core.jobs.cancel(id);
    held.release();
    await kit.pass(2 * SECOND);
    expect([cancelled, (await kit.job(id)).status]).to.deep.equal([1, "failed"]);
  });
});
