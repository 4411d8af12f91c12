import { expect } from "chai";
import { NodeDigest } from "../../../adapters/crypto/digest.js";
import { ReceiveCallback } from "../../../core/providers/receive-callback.js";
import type { JobId } from "../../../core/ids.js";
import {
  type MusicProvider,
  type ParsedCallback,
  ProviderFailure,
  type ProviderTrack,
  type ReceivedCallback,
} from "../../../core/ports/music-provider.js";
import { anId } from "../../support/builders.js";
import { submitHolds, SCRIPTED_AUDIO, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import type { ScriptedProvider } from "../../support/doubles/scripted-provider.js";
import { until, WorkerHarness } from "./worker-harness.js";

const SIGNED = { callbacks: "signed" } as const;
const HANDLE = { version: 1, data: { task: "theirs" } };

function aTrackFrom(open: () => AsyncGenerator<Uint8Array>): ProviderTrack {
  const asset = { role: "mix", label: "full", contentType: null, durationSeconds: null } as const;
  return { ...SCRIPTED_TRACK, assets: [{ ...asset, source: { kind: "stream", open } }] };
}

async function* disableNetwork(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(new Uint8Array(10));
  throw new ProviderFailure("unavailable", "The download was cut off.");
}

describe("A callback of a submission whose reply was lost", () => {
  const lost = new ProviderFailure("outcome_unknown", "the connection was cut");
  const parsed = (tracks: readonly ProviderTrack[]): ParsedCallback => ({
    trust: "verified",
    snapshot: { state: "completed", tracks, handle: HANDLE },
  });
  let harness: WorkerHarness;
  let provider: ScriptedProvider & Pick<MusicProvider, "parseCallback">;
  let read: ReceivedCallback[];
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    read = [];
    provider = Object.assign(harness.provider, {
      parseCallback: (callback: ReceivedCallback): Promise<ParsedCallback> => {
        read.push(callback);
        const isSigned = callback.headers["x-signature"] === "good";
        return Promise.resolve(isSigned ? parsed([SCRIPTED_TRACK]) : { trust: "hint" });
      },
    });
  });
  afterEach(() => harness.close());

  /** A callback to the URL that the provider was given. */
  async function report(jobId: JobId, word: string, signature?: string, attempt: number | null = 1): Promise<void> {
    const { queue, clock, logger, callbackUrls: urls } = harness;
    const { jobs, callbacks, unitOfWork } = harness.storage;
    const ports = { jobs, callbacks, unitOfWork, queue, clock, logger, ids: { next: anId }, digest: new NodeDigest() };
    const receiver = new ReceiveCallback({ ...ports, urls });
    const [token = ""] = urls.urlOf("scripted", jobId, attempt)?.split("/").slice(-1) ?? [];
    const headers: Record<string, string> = signature === undefined ? {} : { "x-signature": signature };
    const body = new TextEncoder().encode(word);
    await receiver.receive({ providerId: "scripted", jobId, token, headers, query: {}, body });
  }

  async function unknown(): Promise<JobId> {
    provider.behaviour = () => Promise.reject(lost);
    const id = await harness.acceptOne();
    await harness.start({ capabilities: SIGNED });
    await harness.quiet();
    expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting" });
    return id;
  }

  it("delivers at once when it reports completion; the plugin gets the request", async () => {
    const id = await unknown();
    await report(id, "done", "good");
    await harness.pass(0);
    await harness.expectCompleted(id);
    expect(provider.submissions).to.have.length(1);
    expect(read.map(({ handle, request }) => ({ handle, request }))).to.deep.equal([
      { handle: { version: 0, data: {} }, request: { operation: "music", modelId: "scripted/song" } },
    ]);
  });

  it("is read at once even when it arrived before the loss of the reply was noticed", async () => {
    const { behaviour, release } = submitHolds(() => Promise.reject(lost));
    provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    await harness.start({ capabilities: SIGNED });
    await provider.submitted();
    await report(id, "done", "good");
    release();
    await harness.pass(0);
    await harness.expectCompleted(id);
  });

  it("supplies the handle for later polls", async () => {
    provider.parseCallback = () =>
      Promise.resolve({ trust: "verified", snapshot: { state: "running", nextPollMs: 1_000, handle: HANDLE } });
    const id = await unknown();
    await report(id, "running", "good");
    await harness.pass(0);
    expect(await harness.job(id)).to.include({ status: "processing", phase: "rendering" });
    provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await harness.pass(1_000);
    await harness.expectCompleted(id);
    expect(provider.polls).to.deep.equal([HANDLE]);
  });

  it("supplies the handle for polling files that could not be stored", async () => {
    provider.parseCallback = () => Promise.resolve(parsed([aTrackFrom(disableNetwork)]));
    const id = await unknown();
    provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await report(id, "done", "good");
    await harness.pass(0);
    expect((await harness.job(id)).status).to.equal("processing");
    await harness.pass(60_000);
    await harness.expectCompleted(id);
    expect(provider.polls).to.deep.equal([HANDLE]);
  });

  it("that is not signed changes nothing", async () => {
    const id = await unknown();
    await report(id, "done");
    await harness.pass(0);
    expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting" });
    expect([read.length, provider.polls.length]).to.deep.equal([1, 0]);
  });

  it("does not take the lease from the worker that stores the files when a second callback arrives", async () => {
    let leaseLeftMs = 0;
    async function* open(): AsyncGenerator<Uint8Array> {
      leaseLeftMs = ((await harness.job(id)).dueAt ?? 0) - harness.clock.now();
      yield SCRIPTED_AUDIO;
    }
    provider.parseCallback = async () => {
      await report(id, "more", "good");
      return parsed([aTrackFrom(open)]);
    };
    const id = await unknown();
    await report(id, "done", "good");
    await harness.pass(0);
    await until("the job has ended", async () => (await harness.job(id)).status === "completed");
    expect(leaseLeftMs).to.be.greaterThan(1_000);
  });
});
