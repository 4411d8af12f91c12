import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import type { ParsedCallback } from "../../../core/ports/music-provider.js";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import {
  SCRIPTED_TRACK,
  submitAccepts,
  submitCompletes,
  submitFails,
} from "../../support/doubles/scripted-provider.js";
import {
  memoryWorkers,
  type MemoryWorkers,
  type MemoryWorkersOptions,
  SPLITTING,
} from "../../support/memory-workers.js";

const SECOND = 1_000;
const COMPLETED = { state: "completed", tracks: [SCRIPTED_TRACK] } as const;
const SIGNED: MemoryWorkersOptions = { capabilities: { callbacks: "signed" } };

/** A provider that reports by callbacks, whose body says what. */
async function calling(parsed: Readonly<Record<string, ParsedCallback>>, given = SIGNED): Promise<MemoryWorkers> {
  const kit = await memoryWorkers(given);
  kit.provider.behaviour = submitAccepts(3_600 * SECOND);
  kit.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 3_600 * SECOND });
  kit.provider.parseCallback = async ({ body }) => {
    const found = parsed[new TextDecoder().decode(body)];
    if (found === undefined) throw new Error("It cannot be read.");
    return found;
  };
  return kit;
}

/** Calls back at the address that the provider got with its last submission, or at another one. */
async function call(kit: MemoryWorkers, text: string, address = kit.provider.submissions.at(-1)?.callbackUrl ?? "") {
  const [providerId = "", jobId = "", token = ""] = new URL(address).pathname.split("/").slice(-3);
  const body = new TextEncoder().encode(text);
  await kit.core.api.receiveCallback.receive({ providerId, jobId, token, headers: {}, query: {}, body });
  await kit.pass(2 * SECOND);
}

async function submitted(kit: MemoryWorkers): Promise<JobId> {
  const id = await kit.accept();
  await kit.start();
  return id;
}

describe("A callback of a provider", () => {
  it("that is signed and reports completion ends the job without a poll", async () => {
    const kit = await calling({ done: { trust: "verified", snapshot: COMPLETED } });
    const id = await submitted(kit);
    await call(kit, "done");
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.provider.polls).to.deep.equal([]);
    expect(await kit.storage.callbacks.unread(id, 10)).to.deep.equal([]);
  });

  it("that is signed and reports a failure refunds the job", async () => {
    const failed = new ProviderFailure("failed", "no GPU");
    const kit = await calling({ failed: { trust: "verified", snapshot: failed } });
    const id = await submitted(kit);
    await call(kit, "failed");
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
    expect(kit.provider.polls).to.deep.equal([]);
  });

  it("that is signed and says that it runs is followed by a poll all the same", async () => {
    const running = { state: "running", nextPollMs: 60 * SECOND } as const;
    const kit = await calling({ running: { trust: "verified", snapshot: running } });
    await submitted(kit);
    await call(kit, "running");
    expect(kit.provider.polls).to.have.length(1);
  });

  it("that is not signed, cannot be read or is forged only causes a poll", async () => {
    const kit = await calling({ hint: { trust: "hint" }, forged: { trust: "forged", reason: "no signature" } });
    const id = await submitted(kit);
    for (const [polls, body] of ["hint", "forged", "nonsense"].entries()) {
      await call(kit, body);
      expect(kit.provider.polls, body).to.have.length(polls + 1);
    }
    expect(await kit.job(id)).to.include({ status: "processing" });
    const logged = kit.logger.lines.map(({ message, fields }) => [message, fields["reason"]]);
    expect(logged).to.deep.include(["A callback was not signed by its provider", "no signature"]);
    const unread = kit.fieldsOf("A callback could not be read");
    expect(unread).to.include({ provider: "scripted" });
    expect(unread["error"]).to.include({ message: "It cannot be read." });
    expect(kit.metrics.counted).to.deep.include(["call", "parseCallback"]);
  });

  it("causes a poll where the plugin reads none", async () => {
    const kit = await calling({}, { capabilities: { callbacks: "hints" } });
    delete kit.provider.parseCallback;
    await submitted(kit);
    await call(kit, "anything");
    expect(kit.provider.polls).to.have.length(1);
  });

  it("proves that a submission whose reply was lost was accepted, and delivers it", async () => {
    const running = { state: "running", nextPollMs: SECOND, handle: { version: 1, data: { task: "x" } } } as const;
    const kit = await calling({ running: { trust: "verified", snapshot: running } });
    kit.provider.behaviour = submitFails("outcome_unknown");
    const id = await submitted(kit);
    expect((await kit.attempts(id))[0]).to.include({ state: "unknown" });
    kit.provider.pollBehaviour = () => Promise.resolve(COMPLETED);
    await call(kit, "running");
    expect(await kit.job(id)).to.include({ status: "completed", attempt: 1 });
    expect(kit.provider.submissions).to.have.length(1);
  });

  it("delivers work of an earlier attempt, and nothing is bought again", async () => {
    const kit = await calling({ done: { trust: "verified", snapshot: COMPLETED } });
    kit.provider.behaviour = submitFails("unavailable");
    const id = await submitted(kit);
    expect(await kit.job(id)).to.include({ phase: "waiting" });
    await call(kit, "done");
    kit.provider.behaviour = submitCompletes;
    await kit.pass(5 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.provider.submissions).to.have.length(1);
  });

  it("about an earlier attempt ends nothing unless it reports completion", async () => {
    const running = { state: "running", nextPollMs: 60 * SECOND } as const;
    const failed = new ProviderFailure("failed", "no GPU", { providerCode: "E1" });
    const kit = await calling(
      {
        running: { trust: "verified", snapshot: running },
        failed: { trust: "verified", snapshot: failed },
      },
      { capabilities: { callbacks: "signed", lookup: true } },
    );
    const accepts = kit.provider.behaviour;
    kit.provider.behaviour = submitFails("outcome_unknown");
    const id = await submitted(kit);
    const earlier = kit.provider.submissions[0]?.callbackUrl ?? "";
    kit.provider.behaviour = accepts;
    await kit.pass(10 * SECOND);
    expect(await kit.job(id)).to.include({ phase: "rendering", attempt: 2 });
    for (const body of ["running", "failed"]) {
      await call(kit, body, earlier);
      expect(await kit.job(id), body).to.include({ status: "processing", phase: "rendering", leaseOwner: null });
    }
    expect(await kit.storage.callbacks.unread(id, 10)).to.deep.equal([]);
    expect(kit.provider.submissions).to.have.length(2);
  });

  it("of a provider that the job has left is not read", async () => {
    const kit = await calling(
      { done: { trust: "verified", snapshot: COMPLETED } },
      { ...SIGNED, withFallback: true, jobs: { retry: { maxAttempts: 1, backoffMs: 1_000 } } },
    );
    kit.provider.behaviour = submitFails("unavailable");
    kit.fallback.behaviour = submitAccepts(3_600 * SECOND);
    const id = await submitted(kit);
    await kit.pass(5 * SECOND);
    expect(await kit.job(id)).to.include({ providerId: "fallback", phase: "rendering" });
    let reads = 0;
    kit.fallback.parseCallback = kit.provider.parseCallback = () =>
      Promise.reject(new Error(`It was read ${(reads += 1)} times.`));
    await call(kit, "done");
    expect(await kit.job(id)).to.include({ status: "processing", phase: "rendering" });
    expect(reads).to.equal(0);
  });

  it("ends the job once, whatever else the provider said before", async () => {
    const running = { state: "running", nextPollMs: 60 * SECOND } as const;
    const kit = await calling({
      running: { trust: "verified", snapshot: running },
      away: { trust: "verified", snapshot: new ProviderFailure("unavailable", "busy") },
      done: { trust: "verified", snapshot: COMPLETED },
    });
    const id = await submitted(kit);
    await Promise.all(["running", "away", "done", "running"].map((body) => call(kit, body)));
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(await kit.entries(id)).to.deep.equal(["reserve", "charge"]);
    expect(await kit.storage.callbacks.unread(id, 10)).to.deep.equal([]);
  });

  it("that says the provider is busy for now ends nothing, and causes a poll", async () => {
    const busy = new ProviderFailure("unavailable", "busy");
    const kit = await calling({ away: { trust: "verified", snapshot: busy } });
    const id = await submitted(kit);
    await call(kit, "away");
    expect(await kit.job(id)).to.include({ status: "processing", phase: "rendering" });
    expect(kit.provider.polls).to.have.length(1);
  });

  it("to the one address of a job is about its attempt, where repeated calls buy one result", async () => {
    const given = { capabilities: { callbacks: "signed", idempotentSubmit: true } } as const;
    const kit = await calling({ done: { trust: "verified", snapshot: COMPLETED } }, given);
    const id = await submitted(kit);
    await call(kit, "done");
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.provider.polls).to.deep.equal([]);
  });

  it("of a split is read without a model", async () => {
    const kit = await calling({}, { ...SPLITTING, capabilities: { ...SPLITTING.capabilities, callbacks: "signed" } });
    const seen: unknown[] = [];
    kit.provider.parseCallback = async ({ request }) => {
      seen.push(request);
      return { trust: "hint" };
    };
    await kit.split();
    await kit.start();
    await call(kit, "anything");
    expect(seen).to.deep.equal([{ operation: "stem_split", modelId: null }]);
  });

  it("is read with the handle of its own attempt, and what the job asked for", async () => {
    const kit = await calling({});
    const seen: unknown[] = [];
    kit.provider.parseCallback = async ({ handle, request }) => {
      seen.push([handle.data, request]);
      return { trust: "hint" };
    };
    const id = await submitted(kit);
    await call(kit, "anything");
    expect(seen).to.deep.equal([[{ task: id }, { operation: "music", modelId: "scripted/song" }]]);
  });
});
