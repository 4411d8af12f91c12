import { expect } from "chai";
import { NodeDigest } from "../../../adapters/crypto/digest.js";
import { ReceiveCallback } from "../../../core/providers/receive-callback.js";
import { NotFoundError } from "../../../core/errors.js";
import type { JobId } from "../../../core/ids.js";
import {
  type MusicProvider,
  type ParsedCallback,
  ProviderFailure,
  type ReceivedCallback,
} from "../../../core/ports/music-provider.js";
import { anId } from "../../support/builders.js";
import type { ScriptedProvider } from "../../support/doubles/scripted-provider.js";
import { submitAccepts, submitFails, submitHolds, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { GRACE_MS, type Worker, WorkerHarness } from "./worker-harness.js";

const FAR = 600_000;
const SIGNED = { callbacks: "signed" } as const;

/** A body is one word with its meaning; the signature is a word, too. */
function parseWords({ headers, body }: ReceivedCallback): Promise<ParsedCallback> {
  if (headers["x-signature"] === "forged")
    return Promise.resolve({ trust: "forged", reason: "the signature does not hold" });
  if (headers["x-signature"] !== "good") return Promise.resolve({ trust: "hint" });
  const word = new TextDecoder().decode(body);
  if (word === "done")
    return Promise.resolve({ trust: "verified", snapshot: { state: "completed", tracks: [SCRIPTED_TRACK] } });
  if (word === "failed")
    return Promise.resolve({ trust: "verified", snapshot: new ProviderFailure("failed", "their words") });
  return Promise.resolve({ trust: "verified", snapshot: { state: "running", nextPollMs: FAR } });
}

describe("A provider's callback", () => {
  let harness: WorkerHarness;
  let provider: ScriptedProvider & Pick<MusicProvider, "parseCallback">;
  let read: ReceivedCallback[];
  let workers: Worker[];
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    read = [];
    workers = [];
    provider = Object.assign(harness.provider, {
      parseCallback: (callback: ReceivedCallback) => {
        read.push(callback);
        return parseWords(callback);
      },
    });
    provider.behaviour = submitAccepts(FAR);
    provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: FAR });
  });
  afterEach(() => harness.close());

  function receiver(): ReceiveCallback {
    const { queue, clock, logger, callbackUrls: urls } = harness;
    const { jobs, callbacks, unitOfWork } = harness.storage;
    return new ReceiveCallback({
      urls,
      jobs,
      callbacks,
      unitOfWork,
      queue,
      clock,
      ids: { next: anId },
      digest: new NodeDigest(),
      logger,
    });
  }

  /** A callback to the URL that a provider was given. */
  async function report(id: JobId, word: string, signature?: string, url = urlOf(id)): Promise<void> {
    const [, providerId = "", jobId = "", token = ""] = /\/callbacks\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(url) ?? [];
    const signed: Record<string, string> = signature === undefined ? {} : { "x-signature": signature };
    await receiver().receive({
      providerId,
      jobId,
      token,
      headers: { ...signed, cookie: "c" },
      query: {},
      body: new TextEncoder().encode(word),
    });
  }

  const urlOf = (id: JobId, attempt: number | null = 1): string =>
    harness.callbackUrls.urlOf("scripted", id, attempt) ?? "";

  async function rendering(): Promise<JobId> {
    const id = await harness.acceptOne();
    workers.push(await harness.start({ capabilities: SIGNED }));
    await harness.quiet();
    return id;
  }

  it("goes to the URL that the provider got with the submission", async () => {
    const id = await rendering();
    expect(provider.submissions.map(({ callbackUrl }) => callbackUrl)).to.deep.equal([urlOf(id)]);
    expect(urlOf(id)).to.match(
      new RegExp(`^https://fermata\\.test/callbacks/scripted/${id}/1\\.[0-9a-f]{16}-[\\w-]{43}$`),
    );
  });

  it("is accepted at the older URL without an attempt", async () => {
    const id = await rendering();
    const address = urlOf(id, null);
    expect(address).to.match(new RegExp(`^https://fermata\\.test/callbacks/scripted/${id}/[0-9a-f]{16}-[\\w-]{43}$`));
    await report(id, "done", "good", address);
    await harness.pass(0);
    await harness.expectCompleted(id);
  });

  it("that is signed and reports completion ends the job at once, without a poll", async () => {
    const id = await rendering();
    await report(id, "done", "good");
    await harness.pass(0);
    await harness.expectCompleted(id);
    expect(provider.polls).to.have.length(0);
  });

  it("that is signed and reports a failure refunds the job at once", async () => {
    const id = await rendering();
    await report(id, "failed", "good");
    await harness.pass(0);
    await harness.expectFailed(id, "generation_failed");
  });

  it("that is signed and reports a failure proves that a call with a lost reply was accepted", async () => {
    provider.behaviour = submitFails("outcome_unknown");
    const id = await rendering();
    await report(id, "failed", "good");
    await harness.pass(GRACE_MS);
    await harness.expectFailed(id, "generation_failed");
    const [attempt] = await harness.storage.jobs.listAttempts(id);
    expect(attempt).to.include({ state: "failed", loss: "provider_failed", acceptedAt: attempt?.endedAt });
  });

  it("that is not signed causes a poll, and only the poll's result counts", async () => {
    const id = await rendering();
    await report(id, "done");
    await harness.pass(0);
    expect(await harness.job(id)).to.include({ status: "processing", phase: "rendering" });
    expect(provider.polls).to.have.length(1);
    provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await report(id, "done again");
    await harness.pass(0);
    await harness.expectCompleted(id);
  });

  it("that is forged ends nothing, and does not block the genuine one with the same body", async () => {
    const id = await rendering();
    await report(id, "failed", "forged");
    await harness.pass(0);
    expect((await harness.job(id)).status).to.equal("processing");
    expect(
      harness.logger.lines.some(({ message }) => message === "A callback was not signed by its provider"),
    ).to.equal(true);
    await report(id, "failed", "good");
    await harness.pass(0);
    await harness.expectFailed(id, "generation_failed");
  });

  it("that arrives before the reply to the submission is stored until the reply is recorded", async () => {
    const { behaviour, release } = submitHolds(submitAccepts(FAR));
    provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    await harness.start({ capabilities: SIGNED });
    await provider.submitted();
    await report(id, "done", "good");
    expect((await harness.job(id)).phase).to.equal("submitting");
    release();
    await harness.pass(0);
    await harness.expectCompleted(id);
    expect(read.map(({ handle }) => handle.data)).to.deep.equal([{ task: id }]);
  });

  it("that arrives during a poll is read when the poll ends", async () => {
    const id = await rendering();
    let response = (): void => undefined;
    provider.pollBehaviour = () =>
      new Promise((resolve) => (response = () => resolve({ state: "running", nextPollMs: FAR })));
    await report(id, "look");
    await harness.pass(0);
    expect(provider.polls).to.have.length(1);
    await report(id, "done", "good");
    response();
    await harness.pass(0);
    await harness.expectCompleted(id);
    expect(provider.polls).to.have.length(1);
  });

  it("that arrives twice, or late, changes nothing", async () => {
    const id = await rendering();
    await Promise.all([report(id, "done", "good"), report(id, "done", "good")]);
    await harness.pass(0);
    await harness.expectCompleted(id);
    await report(id, "failed", "good");
    await harness.pass(1_000);
    await harness.expectCompleted(id);
    expect(read).to.have.length(1);
  });

  it("that is not signed and is repeated long after the first causes another poll", async () => {
    const id = await rendering();
    await report(id, "progress");
    await harness.pass(0);
    expect(provider.polls).to.have.length(1);
    provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await report(id, "progress");
    await harness.pass(0);
    await harness.expectCompleted(id);
  });

  it("of an earlier stage that arrives after the completion does not undo it", async () => {
    const id = await rendering();
    await report(id, "done", "good");
    await report(id, "first of two", "good");
    await harness.pass(0);
    await harness.expectCompleted(id);
  });

  it("that the plugin cannot read causes a poll", async () => {
    provider.parseCallback = () => Promise.reject(new TypeError("no such member"));
    const id = await rendering();
    await report(id, "{", "good");
    await harness.pass(0);
    expect(provider.polls).to.have.length(1);
    expect((await harness.job(id)).status).to.equal("processing");
  });

  it("of a provider without callbacks is not read and causes no poll", async () => {
    const id = await rendering();
    await report(id, "an old one");
    for (const worker of [...workers]) await worker.stop();
    provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 10_000 });
    const before = provider.polls.length;
    await harness.start({ capabilities: {} });
    await harness.pass(35_000);
    expect(provider.polls.length - before).to.be.within(3, 5);
    expect(read).to.have.length(0);
  });

  it("to a URL of another job or provider, or one without a token, is refused", async () => {
    const [id, other] = [await rendering(), await harness.acceptOne()];
    const wrong = [
      urlOf(id).replace("/1.", "/2."),
      urlOf(id).replace("/1.", "/"),
      urlOf(id).replace(id, other),
      urlOf(id).replace("scripted", "fallback"),
      `${urlOf(id)}x`,
      urlOf(id).replace(id, "job_1"),
    ];
    for (const url of wrong) {
      expect(await report(id, "failed", "good", url).catch((error: unknown) => error), url).to.be.instanceOf(
        NotFoundError,
      );
    }
    expect(await harness.storage.callbacks.unread(id, 10)).to.deep.equal([]);
  });

  it("of a job that has ended, that is gone or that another provider has by now is not stored", async () => {
    const [done, moved] = [await rendering(), await harness.acceptOne()];
    await report(done, "done", "good");
    await harness.pass(0);
    await harness.expectCompleted(done);
    const gone = anId("job");
    const change = { id: moved, fence: (await harness.job(moved)).fence, changes: { providerId: "fallback" } };
    await harness.storage.inTransaction((tx) => harness.storage.jobs.updateJobs(tx, [change]));
    for (const id of [done, moved, gone]) {
      await report(id, "late", "good");
      const kept = await harness.storage.inTransaction((tx) => harness.storage.callbacks.countOf(tx, id));
      expect(kept, id).to.equal(id === done ? 1 : 0);
    }
  });

  it("is stored without sensitive headers, and at most fifty per job", async () => {
    const id = await harness.acceptOne();
    for (let count = 0; count < 60; count++) await report(id, `word ${count}`);
    const kept = await harness.storage.callbacks.unread(id, 100);
    expect(kept).to.have.length(50);
    expect(kept[0]?.headers).to.deep.equal({});
  });
});
