import { expect } from "chai";
import { NodeDigest } from "../../../adapters/crypto/digest.js";
import type { JobId } from "../../../core/ids.js";
import {
  type MusicProvider,
  type ParsedCallback,
  ProviderFailure,
  type ReceivedCallback,
} from "../../../core/ports/music-provider.js";
import { ReceiveCallback } from "../../../core/providers/receive-callback.js";
import { anId } from "../../support/builders.js";
import type { ScriptedProvider } from "../../support/doubles/scripted-provider.js";
import {
  submitAccepts,
  type SubmitBehaviour,
  submitCompletes,
  type PollBehaviour,
  SCRIPTED_TRACK,
} from "../../support/doubles/scripted-provider.js";
import { WorkerHarness } from "./worker-harness.js";

const BUSY = new ProviderFailure("unavailable", "busy");
const LOST = new ProviderFailure("outcome_unknown", "the connection was cut");
const DONE: ParsedCallback = { trust: "verified", snapshot: { state: "completed", tracks: [SCRIPTED_TRACK] } };
const RUNNING: PollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 30_000 });
const FINISHED: PollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });

describe("The callbacks of a job with several attempts", () => {
  let harness: WorkerHarness;
  let provider: ScriptedProvider & Pick<MusicProvider, "parseCallback">;
  let word: ParsedCallback;
  let read: ReceivedCallback[];
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    word = DONE;
    read = [];
    provider = Object.assign(harness.provider, {
      parseCallback: (callback: ReceivedCallback) => {
        read.push(callback);
        return Promise.resolve(word);
      },
    });
    provider.lookupBehaviour = () => Promise.resolve({ state: "absent" });
  });
  afterEach(() => harness.close());

  /** The provider's callback to the URL of that attempt. */
  async function report(attempt: number): Promise<void> {
    const { queue, clock, logger, callbackUrls: urls } = harness;
    const { jobs, callbacks, unitOfWork } = harness.storage;
    const ports = { jobs, callbacks, unitOfWork, queue, clock, logger, ids: { next: anId }, digest: new NodeDigest() };
    const address = provider.submissions[attempt - 1]?.callbackUrl ?? "";
    const [providerId = "", jobId = "", token = ""] = address.split("/").slice(-3);
    const body = new TextEncoder().encode("word");
    await new ReceiveCallback({ ...ports, urls }).receive({ providerId, jobId, token, headers: {}, query: {}, body });
  }

  const states = async (id: JobId): Promise<string[]> =>
    (await harness.storage.jobs.listAttempts(id)).map(({ state, loss }) =>
      loss === null ? state : `${state}, ${loss}`,
    );

  /** A job whose first submission was lost and looked up as absent; then the provider does `then`. */
  async function absentAtFirst(then: SubmitBehaviour): Promise<JobId> {
    provider.behaviour = (request, context) => (request.attempt === 1 ? Promise.reject(LOST) : then(request, context));
    const id = await harness.acceptOne();
    await harness.start({ capabilities: { callbacks: "signed", lookup: true } });
    await harness.pass(1_000);
    return id;
  }

  for (const { title, idempotentSubmit, differ } of [
    { title: "go to an address of each attempt", idempotentSubmit: false, differ: true },
    { title: "go to one address where a repeated call must be the same", idempotentSubmit: true, differ: false },
  ]) {
    it(title, async () => {
      provider.behaviour = (request, context) =>
        request.attempt === 1 ? Promise.reject(BUSY) : submitCompletes(request, context);
      const id = await harness.acceptOne();
      await harness.start({ capabilities: { callbacks: "signed", idempotentSubmit } });
      await harness.pass(1_500);
      await harness.expectCompleted(id);
      const [first, second, ...more] = provider.submissions.map(({ callbackUrl }) => callbackUrl);
      expect([first === second, more.length]).to.deep.equal([!differ, 0]);
    });
  }

  it("deliver work that a lookup had not found, and it is not bought again", async () => {
    const id = await absentAtFirst(() => Promise.reject(BUSY));
    expect(await states(id)).to.deep.equal(["refused", "refused"]);
    await report(1);
    provider.behaviour = submitCompletes;
    await harness.pass(60_000);
    await harness.expectCompleted(id);
    expect(await states(id)).to.deep.equal(["settled", "refused"]);
    expect(provider.submissions).to.have.length(2);
  });

  it("do not change the current attempt when they came to the URL of another attempt", async () => {
    provider.pollBehaviour = RUNNING;
    const id = await absentAtFirst(submitAccepts(60_000));
    expect(await states(id)).to.deep.equal(["refused", "accepted"]);
    await report(1);
    await harness.pass(1_000);
    expect(await states(id)).to.deep.equal(["abandoned, late", "accepted"]);
    expect(await harness.job(id)).to.include({ status: "processing", phase: "rendering" });
    provider.pollBehaviour = FINISHED;
    await harness.pass(60_000);
    await harness.expectCompleted(id);
    expect(await states(id)).to.deep.equal(["abandoned, late", "settled"]);
    expect(read).to.have.length(1);
  });

  it("are read with the handle of their own attempt", async () => {
    const id = await absentAtFirst(submitAccepts(60_000));
    await report(2);
    await harness.pass(0);
    await harness.expectCompleted(id);
    expect(read.map(({ handle }) => handle)).to.deep.equal([{ version: 1, data: { task: id } }]);
  });

  for (const [title, other] of [
    ["another attempt that failed", { trust: "verified", snapshot: new ProviderFailure("failed", "their words") }],
    ["another attempt that renders", { trust: "verified", snapshot: { state: "running", nextPollMs: 1_000 } }],
  ] as const) {
    it(`change nothing for ${title}`, async () => {
      word = other;
      provider.pollBehaviour = RUNNING;
      const id = await absentAtFirst(submitAccepts(60_000));
      await report(1);
      await harness.pass(1_000);
      expect(await states(id)).to.deep.equal(["refused", "accepted"]);
      provider.pollBehaviour = FINISHED;
      await harness.pass(60_000);
      await harness.expectCompleted(id);
      expect(read).to.have.length(1);
    });
  }
});
