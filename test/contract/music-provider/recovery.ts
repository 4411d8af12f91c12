import { expect } from "chai";
import type { ProviderHandle } from "../../../core/ports/music-provider.js";
import { htmlPage } from "../../support/provider-kit/responses.js";
import type { FakeRequest } from "../../support/provider-kit/request.js";
import { isApplicable, type MusicProviderHarness } from "./harness.js";
import { carriedOut } from "./operations.js";
import type { ProviderUnderTest } from "./tested.js";

const never = new AbortController().signal;

/** What is done about lost replies, unwanted work and the operator's account. */
export function describeRecovery(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  describeIdempotency(harness, tested);
  describeLookup(harness, tested);
  describeCancel(harness, tested);
  describeProbe(harness, tested);
}

function describeIdempotency({ idempotency }: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  if (!isApplicable(idempotency)) {
    it(`makes the same of the same job, if it claims so: ${idempotency.notApplicable}`, async () => {
      const { fake, main, capabilities } = tested();
      if (main.submit !== null) {
        expect(
          capabilities.idempotentSubmit,
          "capabilities.idempotentSubmit without a key that the provider goes by",
        ).to.equal(false);
        return;
      }
      await main.completes(fake);
      const [first, again] = [await carriedOut(tested(), main.name), await carriedOut(tested(), main.name)];
      expect(JSON.stringify(again) === JSON.stringify(first)).to.equal(capabilities.idempotentSubmit);
    });
    return;
  }
  it("sends the same key for every attempt of a job, and another for another job", async () => {
    const { fake, main } = tested();
    await main.completes(fake);
    const first = main.request();
    const other = main.request();
    for (const request of [first, { ...first, attemptId: `${first.attemptId}2`, attempt: 2 }, other]) {
      await tested().provider.submit(request, { signal: never });
    }
    const calls: readonly FakeRequest[] = main.submit === null ? [] : fake.calls(main.submit);
    const [one, again, third] = calls.map((call) => idempotency.keyOf(call));
    expect(calls, "calls that create").to.have.lengthOf(3);
    expect(one, "the key (harness: idempotency.keyOf)").to.be.a("string").and.not.equal("");
    expect(again, "the key of the second attempt").to.equal(one);
    expect(third, "the key of another job").to.be.a("string").and.not.equal(one);
  });
}

function describeLookup({ lookup }: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  if (!isApplicable(lookup)) return;
  const ask = (attemptId: string) =>
    tested().provider.lookup?.(attemptId, { signal: never }) ?? Promise.reject(new Error("there is no `lookup`"));

  it("finds the work of an attempt whose reply was lost", async () => {
    const { fake, main } = tested();
    const request = main.request();
    await main.completes(fake);
    if (main.submit !== null) fake.spoil(main.submit, "cut-reply");
    await tested().failure(tested().submit(request));
    expect(
      fake.requests.some((call) => traceOf(call).includes(request.attemptId)),
      "the provider got the attempt's id",
    ).to.equal(true);
    fake.forget();
    await lookup.found(fake, request.attemptId);
    const found = await ask(request.attemptId);
    expect(found.state).to.be.oneOf(["accepted", "completed"]);
    if (found.state !== "absent") await tested().finish(found, main.name);
  });

  it("says absent of an attempt that never arrived, and only when it is sure", async () => {
    await lookup.absent(tested().fake);
    expect(await ask("att_never_sent")).to.deep.equal({ state: "absent" });
    for (const response of [htmlPage(502), { status: 200, body: "" }, { fault: "cut-reply" as const }]) {
      tested().fake.instead(lookup.route, response);
      expect((await tested().failure(ask("att_never_sent"))).kind).to.be.oneOf(["unavailable", "rate_limited"]);
    }
  });
}

function describeCancel({ cancel, work }: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  if (!isApplicable(cancel)) return;
  const stop = (handle: ProviderHandle) =>
    tested().provider.cancel?.(handle, { signal: never }) ?? Promise.reject(new Error("there is no `cancel`"));
  const accepted = async (): Promise<ProviderHandle> => {
    if (!isApplicable(work)) throw new Error("Only accepted work can be cancelled: give `work`.");
    await work.accepts(tested().fake);
    return tested().accepted();
  };

  it("stops accepted work", async () => {
    const handle = await accepted();
    await cancel.cancels(tested().fake);
    expect(await stop(handle)).to.be.oneOf(["cancelled", "requested"]);
    expect(tested().fake.calls(cancel.route).length).to.be.at.least(1);
  });

  const { tooLate } = cancel;
  if (isApplicable(tooLate)) {
    it("says too_late of work that is done", async () => {
      const handle = await accepted();
      await tooLate(tested().fake);
      expect(await stop(handle)).to.equal("too_late");
    });
  }

  it("does not claim to have stopped work when the response is lost", async () => {
    const handle = await accepted();
    await cancel.cancels(tested().fake);
    tested().fake.spoil(cancel.route, "cut-reply");
    let outcome: string;
    try {
      outcome = await stop(handle);
    } catch (error) {
      outcome = tested().failureIn(error).kind;
    }
    expect(outcome).to.be.oneOf(["requested", "unavailable", "outcome_unknown"]);
  });
}

function describeProbe({ probe }: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  if (!isApplicable(probe)) return;
  const ask = () => tested().provider.probe?.({ signal: never }) ?? Promise.reject(new Error("there is no `probe`"));

  it("tries the key and reads the credit, without making work", async () => {
    const expected = await probe.responses(tested().fake);
    const { credit, warnings } = await ask();
    expect(credit).to.deep.equal(expected);
    expect(warnings).to.be.an("array");
    for (const { submit } of tested().operations())
      if (submit !== null) expect(tested().fake.calls(submit)).to.have.lengthOf(0);
  });

  it("says misconfigured of a key that is refused", async () => {
    await probe.refusesKey(tested().fake);
    expect((await tested().failure(ask())).kind).to.equal("misconfigured");
  });

  it("does not blame the key when the provider is unavailable", async () => {
    await probe.responses(tested().fake);
    tested().fake.spoil(probe.route, "cut-reply");
    expect((await tested().failure(ask())).kind).to.be.oneOf(["unavailable", "rate_limited"]);
  });
}

/** All that a request tells. */
function traceOf({ path, query, headers, text }: FakeRequest): string {
  return [path, JSON.stringify(query), JSON.stringify(headers), text].join("\n");
}
