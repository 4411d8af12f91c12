import { expect } from "chai";
import {
  type CallbackRequest,
  type ParsedCallback,
  ProviderFailure,
  type ProviderHandle,
  type SubmitRequest,
} from "../../../core/ports/music-provider.js";
import { completedIssues } from "./assets.js";
import { expectNone } from "./expect-none.js";
import {
  type CallbackScenarios,
  type CallbackStage,
  isApplicable,
  type MusicProviderHarness,
  type SentCallback,
} from "./harness.js";
import { type ProviderUnderTest, stored } from "./tested.js";

const CALLBACK_URL = "https://fermata.example/callbacks/cb_7f3e9a";
const STATES: Readonly<Record<CallbackStage, string>> = {
  running: "running",
  succeeded: "completed",
  failed: "failure",
};
const DAY_MS = 86_400_000;
/** What the host gives when the submission's reply was lost. */
const NO_HANDLE: ProviderHandle = { version: 0, data: {} };

/** What the provider sends us by itself. */
export function describeCallbacks(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  const { callbacks, work } = harness;
  if (!isApplicable(callbacks)) {
    it(`gives the provider no address to report to: ${callbacks.notApplicable}`, async () => {
      const { fake, main } = tested();
      await main.completes(fake);
      await tested().submit(main.request({ callbackUrl: CALLBACK_URL }));
      expect(
        fake.requests.some(({ text, query, headers }) => wholeOf(text, query, headers).includes("cb_7f3e9a")),
      ).to.equal(false);
    });
    return;
  }
  const accepted = async (): Promise<ProviderHandle> => {
    if (!isApplicable(work)) throw new Error("Only accepted work reports: give `work`.");
    await work.accepts(tested().fake);
    await callbacks.prepare?.(tested().fake);
    return tested().accepted(tested().main.request({ callbackUrl: CALLBACK_URL }));
  };

  it("tells the provider where to report, if there is an address, and leaves it out if there is none", async () => {
    await accepted();
    const sent = (): boolean =>
      tested().fake.requests.some(({ text, query, headers }) => wholeOf(text, query, headers).includes("cb_7f3e9a"));
    expect(sent(), "the callback URL was sent").to.equal(true);
    tested().fake.requests.length = 0;
    await tested().accepted(tested().main.request({ callbackUrl: null }));
    expect(sent(), "a callback URL was sent where there is none").to.equal(false);
  });

  describeParsing(callbacks, tested, accepted);
  describeLostReply(harness, callbacks, tested, accepted);
}

/** A signed callback is the one word of a purchase whose acceptance was lost. */
function describeLostReply(
  { work }: MusicProviderHarness,
  { signature, lostReply, stages, send }: CallbackScenarios,
  tested: () => ProviderUnderTest,
  accepted: () => Promise<ProviderHandle>,
): void {
  if (!isApplicable(signature)) return;
  const read = async (stage: CallbackStage): Promise<ParsedCallback> => {
    const { fake, host } = tested();
    const at = host.clock.now();
    return parsed(tested(), NO_HANDLE, await send(stage, { handle: await accepted(), at, fake }), at);
  };

  if (lostReply !== undefined) {
    it(`cannot read a signed callback for a submission whose reply was lost: ${lostReply.notApplicable}`, async () => {
      for (const stage of stages) expect((await read(stage)).trust, stage).to.equal("hint");
    });
    return;
  }

  it("reads a signed callback for a submission whose reply was lost: the end, or the handle to poll by", async () => {
    for (const stage of stages) {
      const callback = await read(stage);
      // Why work failed may be a matter of asking.
      if (callback.trust !== "verified")
        expect(callback.trust, stage).to.equal(stage === "failed" ? "hint" : "verified");
      else if (ProviderFailure.is(callback.snapshot)) expect(stage, "a failure").to.equal("failed");
      else {
        const { state, handle } = callback.snapshot;
        if (state === "completed") expect(stage, "completed work").to.equal("succeeded");
        else expect(handle, `the handle that a callback of ${stage} work brings`).to.be.an("object");
        if (handle !== undefined) await expectPollable(work, tested(), handle);
      }
    }
  });

  it("does not believe a wrong signature for a submission whose reply was lost", async () => {
    const { fake, host } = tested();
    const at = host.clock.now();
    const callback = await send("succeeded", { handle: await accepted(), at, fake });
    const others = { ...callback.headers, [signature.header]: "" };
    const { trust } = await parsed(tested(), NO_HANDLE, { ...callback, headers: others }, at);
    expect(trust).to.be.oneOf(["hint", "forged"]);
  });
}

/** As of work whose acceptance arrived. */
async function expectPollable(
  work: MusicProviderHarness["work"],
  tested: ProviderUnderTest,
  handle: ProviderHandle,
): Promise<void> {
  if (!isApplicable(work)) throw new Error("Only accepted work reports: give `work`.");
  await work.succeeds(tested.fake);
  const outcome = { state: "accepted", handle: stored(handle), nextPollMs: 0 } as const;
  const { completed } = await tested.finish(outcome, tested.main.name);
  expect(completed.state).to.equal("completed");
}

function describeParsing(
  callbacks: CallbackScenarios,
  tested: () => ProviderUnderTest,
  accepted: () => Promise<ProviderHandle>,
): void {
  const { signature, stages } = callbacks;
  const now = (): number => tested().host.clock.now();
  const sent = async (stage: CallbackStage, handle: ProviderHandle, at = now()): Promise<SentCallback> =>
    callbacks.send(stage, { handle: stored(handle), at, fake: tested().fake });
  const parse = (handle: ProviderHandle, callback: SentCallback, receivedAt = now()): Promise<ParsedCallback> =>
    parsed(tested(), handle, callback, receivedAt);

  if (!isApplicable(signature)) {
    it(`believes no callback, and polls the work instead: ${signature.notApplicable}`, async () => {
      expect(tested().capabilities.callbacks).to.equal("hints");
      const handle = await accepted();
      for (const stage of stages)
        expect(await parse(handle, await sent(stage, handle)), stage).to.deep.equal({ trust: "hint" });
      expect(await parse(handle, { body: "{" }))
        .to.have.property("trust")
        .that.is.oneOf(["hint", "forged"]);
    });
    return;
  }

  for (const stage of stages) {
    it(`reads what a signed callback says: ${stage}`, async () => {
      const handle = await accepted();
      const read = await parse(handle, await sent(stage, handle));
      // A signature that leaves the body out proves that something happened, not what.
      if (!signature.coversBody) expect(read).to.deep.equal({ trust: "hint" });
      else expect(stateOf(read)).to.equal(STATES[stage]);
      expectNone(issuesOf(read, tested().main.name), "issues of what a callback completed");
    });
  }

  it("reads a callback the same, however often it comes and after whichever other", async () => {
    const handle = await accepted();
    const all = await Promise.all(stages.map((stage) => sent(stage, handle)));
    const once = await eachOf(all, (callback) => parse(handle, callback));
    const backwards = await eachOf([...all].reverse(), (callback) => parse(handle, callback));
    expect(backwards.reverse().map(stateOf)).to.deep.equal(once.map(stateOf));
  });

  it("takes a wrong signature for forged, and a missing one for no proof", async () => {
    const handle = await accepted();
    const callback = await sent("succeeded", handle);
    const right = callback.headers?.[signature.header] ?? "";
    expect(right, `the header ${signature.header} of the scenario's callback`).to.not.equal("");
    // The first letter of a value in base64 or hex that stands behind a version or a scheme, if there is one.
    const at = Math.max(right.lastIndexOf(","), right.lastIndexOf("=", right.length - 4)) + 1;
    const wrong = `${right.slice(0, at)}${right[at] === "a" ? "b" : "a"}${right.slice(at + 1)}`;
    expect(
      (await parse(handle, { ...callback, headers: { ...callback.headers, [signature.header]: wrong } })).trust,
    ).to.equal("forged");
    const { [signature.header]: _, ...others } = callback.headers ?? {};
    expect((await parse(handle, { ...callback, headers: others })).trust).to.be.oneOf(["hint", "forged"]);
    expect((await parse(handle, { ...callback, headers: { ...others, [signature.header]: "" } })).trust).to.be.oneOf([
      "hint",
      "forged",
    ]);
  });

  it("does not believe a body that is not the signed one", async () => {
    const handle = await accepted();
    const callback = await sent("succeeded", handle);
    const changed = { ...callback, body: Buffer.concat([Buffer.from(callback.body), Buffer.from(" ")]) };
    expect((await parse(handle, changed)).trust).to.be.oneOf(["hint", "forged"]);
  });

  const { toleranceMs } = signature;
  const invalid = isApplicable(toleranceMs)
    ? "a callback of long ago"
    : `another work's callback: ${toleranceMs.notApplicable}`;
  it(`does not believe ${invalid}`, async () => {
    const handle = await accepted();
    if (isApplicable(toleranceMs)) {
      const old = await sent("succeeded", handle, now() - toleranceMs - DAY_MS);
      expect((await parse(handle, old)).trust).to.be.oneOf(["hint", "forged"]);
      return;
    }
    const other = await accepted();
    expect((await parse(other, await sent("succeeded", handle))).trust).to.be.oneOf(["hint", "forged"]);
  });
}

async function parsed(
  { provider, main }: ProviderUnderTest,
  handle: ProviderHandle,
  callback: SentCallback,
  receivedAt: number,
): Promise<ParsedCallback> {
  const headers = Object.fromEntries(
    Object.entries(callback.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const body = typeof callback.body === "string" ? new TextEncoder().encode(callback.body) : callback.body;
  const submitted = main.request();
  const modelId = submitted.operation === "music" ? submitted.model.id : null;
  const request: CallbackRequest = { operation: submitted.operation, modelId };
  const received = { headers, query: callback.query ?? {}, body, receivedAt, handle: stored(handle), request };
  // Without the method every callback is a hint: the host polls.
  return provider.parseCallback?.(received, { signal: new AbortController().signal }) ?? { trust: "hint" };
}

/** One after the other: callbacks do not come at once. */
async function eachOf<T, R>(list: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of list) results.push(await work(item));
  return results;
}

function stateOf(read: ParsedCallback): string {
  if (read.trust !== "verified") return read.trust;
  return ProviderFailure.is(read.snapshot) ? "failure" : read.snapshot.state;
}

function issuesOf(read: ParsedCallback, operation: SubmitRequest["operation"]): string[] {
  if (read.trust !== "verified" || ProviderFailure.is(read.snapshot)) return [];
  return read.snapshot.state === "completed" ? completedIssues(read.snapshot, operation) : [];
}

function wholeOf(text: string, query: object, headers: object): string {
  return [text, JSON.stringify(query), JSON.stringify(headers)].join("\n");
}
