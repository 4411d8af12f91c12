import { expect } from "chai";
import {
  type MusicProvider,
  ProviderFailure,
  type ProviderFailureKind,
  type ProviderHandle,
  type Snapshot,
} from "../../../core/ports/music-provider.js";
import { htmlPage, text } from "../../support/provider-kit/responses.js";
import { isApplicable, type MusicProviderHarness, type OrNot, type Script, type WorkScenarios } from "./harness.js";
import { GARBAGE } from "./losses.js";
import { expectExpected } from "./operations.js";
import { type ProviderUnderTest, stored } from "./tested.js";

/** Kinds after which the work is polled again. */
const PASSING: readonly ProviderFailureKind[] = ["unavailable", "rate_limited"];

/** Work that was accepted, and what is said of it later. */
export function describeWork(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  const { work } = harness;
  if (!isApplicable(work)) return;

  const accepted = async (): Promise<ProviderHandle> => {
    await work.accepts(tested().fake);
    return tested().accepted();
  };

  it("answers accepted with a handle, running while it runs, and completed with the files", async () => {
    const handle = await accepted();
    await work.running(tested().fake);
    expect((await tested().poll(handle)).state).to.equal("running");
    const expected = await work.succeeds(tested().fake);
    const { completed } = await tested().finish({ state: "accepted", handle, nextPollMs: 0 }, tested().main.name);
    await expectExpected(completed, expected);
  });

  it("says the same of finished work whenever it is asked again", async () => {
    const handle = await accepted();
    const expected = await work.succeeds(tested().fake);
    for (let asked = 0; asked < 2; asked += 1) {
      const { completed } = await tested().finish({ state: "accepted", handle, nextPollMs: 0 }, tested().main.name);
      await expectExpected(completed, expected);
    }
  });

  it("polls the work of a process that is gone: the handle is all it needs", async () => {
    const handle = await accepted();
    const heir = await tested().another(() => harness.settings(tested().fake));
    const expected = await work.succeeds(tested().fake);
    const { completed } = await heir.finish({ state: "accepted", handle, nextPollMs: 0 }, tested().main.name);
    await expectExpected(completed, expected);
  });

  it("gives every work a handle of its own", async () => {
    await work.accepts(tested().fake);
    const handles = [await tested().accepted(), await tested().accepted()];
    expect(handles[0]).to.not.deep.equal(handles[1]);
  });

  describeEndings(work, tested, accepted);
  describePassing(work, tested, accepted);
  describePollMany(work, tested);
}

function describeEndings(
  work: WorkScenarios,
  tested: () => ProviderUnderTest,
  accepted: () => Promise<ProviderHandle>,
): void {
  const endings: readonly (readonly [
    what: string,
    scenario: OrNot<Script | readonly Script[]>,
    kinds: readonly ProviderFailureKind[],
  ])[] = [
    ["work that failed", work.fails, ["failed"]],
    ["work whose content is refused", work.rejectsContent, ["content_rejected"]],
    ["work that was cancelled there", work.cancelled, ["cancelled"]],
    ["work that ran out of time there", work.timesOut, ["timeout"]],
    ["work that it does not know", work.gone, ["gone"]],
    ["work whose files are there no more", work.expiredLink, ["gone"]],
    ["a success without files", work.succeedsEmpty, ["failed", "gone"]],
  ];
  for (const [what, scenario, kinds] of endings) {
    const scripts = !isApplicable(scenario) ? [] : typeof scenario === "function" ? [scenario] : scenario;
    scripts.forEach((script, index) => {
      it(`says ${kinds.join(" or ")} of ${what}${scripts.length > 1 ? ` (${index + 1})` : ""}`, async () => {
        const handle = await accepted();
        await script(tested().fake);
        expect((await tested().failure(tested().poll(handle))).kind).to.be.oneOf(kinds);
      });
    });
    if (!isApplicable(scenario)) {
      it(`has no ${what}: ${scenario.notApplicable}`, () => {
        expect(scenario.notApplicable.trim(), "why not").to.not.equal("");
      });
    }
  }
  const failures = typeof work.fails === "function" ? [work.fails] : work.fails;
  failures.forEach((script, index) => {
    const which = failures.length > 1 ? ` (${index + 1})` : "";
    it(`gives the code or the status word of work that failed: an end without one is doubted${which}`, async () => {
      const handle = await accepted();
      await script(tested().fake);
      const { providerCode } = await tested().failure(tested().poll(handle));
      expect(providerCode, "providerCode").to.be.a("string").that.is.not.equal("");
    });
  });
  for (const [what, { kind, script }] of Object.entries(work.others ?? {})) {
    it(`says ${kind} of ${what}`, async () => {
      const handle = await accepted();
      await script(tested().fake);
      expect((await tested().failure(tested().poll(handle))).kind).to.equal(kind);
    });
  }
  const { partlyReady } = work;
  const unless = isApplicable(partlyReady) ? "" : `: ${partlyReady.notApplicable}`;
  it(`takes work of which a part is ready for running${unless}`, async () => {
    const handle = await accepted();
    await (isApplicable(partlyReady) ? partlyReady : work.running)(tested().fake);
    expect((await tested().poll(handle)).state).to.equal("running");
  });
}

function describePassing(
  work: WorkScenarios,
  tested: () => ProviderUnderTest,
  accepted: () => Promise<ProviderHandle>,
): void {
  const passing = [
    ...GARBAGE,
    ["a gateway's page of status 502", htmlPage(502)],
    ["a plain status 503", text("busy", { status: 503 })],
    ["a redirect", { ...htmlPage(302), headers: { "content-type": "text/html", location: "/maintenance" } }],
    ...[400, 404, 405, 409, 410, 413, 431, 451].map(
      (status) => [`a gateway's page of status ${status}`, htmlPage(status)] as const,
    ),
  ] as const;
  for (const [what, response] of passing) {
    it(`will ask again when the status call answers ${what}`, async () => {
      const handle = await accepted();
      await work.succeeds(tested().fake);
      tested().fake.instead(work.status, response);
      expect((await tested().failure(tested().poll(handle))).kind).to.be.oneOf(PASSING);
      expect(
        (await tested().finish({ state: "accepted", handle, nextPollMs: 0 }, tested().main.name)).completed.state,
      ).to.equal("completed");
    });
  }
  for (const fault of ["cut-request", "cut-reply", "cut-body"] as const) {
    it(`will ask again when the status call is lost (${fault})`, async () => {
      const handle = await accepted();
      await work.succeeds(tested().fake);
      tested().fake.spoil(work.status, fault);
      expect((await tested().failure(tested().poll(handle))).kind).to.be.oneOf(PASSING);
    });
  }
  it("does not give work up for too many questions", async () => {
    const handle = await accepted();
    tested().fake.instead(work.status, text("slow down", { status: 429, headers: { "retry-after": "2" } }));
    expect((await tested().failure(tested().poll(handle))).kind).to.be.oneOf([...PASSING, "out_of_credit"]);
  });
  it("ends a status call at once when it is aborted, and leaves nothing open", async () => {
    const handle = await accepted();
    const stop = new AbortController();
    tested().fake.spoil(work.status, "hang");
    const failed = tested().failure(tested().poll(handle, stop.signal));
    await Promise.race([tested().fake.received(work.status), failed]);
    stop.abort();
    expect((await failed).kind).to.be.oneOf(PASSING);
    await tested().fake.idle();
  });
}

function describePollMany(work: WorkScenarios, tested: () => ProviderUnderTest): void {
  const many = async (handles: readonly ProviderHandle[]): Promise<readonly (Snapshot | ProviderFailure)[] | null> => {
    const { provider } = tested();
    return provider.pollMany === undefined
      ? null
      : provider.pollMany(handles.map(stored), { signal: new AbortController().signal });
  };
  const three = async (): Promise<ProviderHandle[]> => {
    await work.accepts(tested().fake);
    return [await tested().accepted(), await tested().accepted(), await tested().accepted()];
  };

  it("reports for many works in one request what it reports for each, where it has `pollMany`", async () => {
    const handles = await three();
    await work.running(tested().fake);
    const before = tested().fake.calls(work.status).length;
    const responses = await many(handles);
    if (responses === null) {
      // Without it the host polls each: `poll` must be there.
      expect(tested().provider.poll, "there is neither `pollMany` nor").to.be.a("function");
      return;
    }
    expect(responses.map((response) => (ProviderFailure.is(response) ? response.kind : response.state))).to.deep.equal([
      "running",
      "running",
      "running",
    ]);
    expect(tested().fake.calls(work.status).length - before, "requests of the status call").to.equal(1);
    await work.succeeds(tested().fake);
    expect(
      (await many(handles))?.map((response) => (ProviderFailure.is(response) ? response.kind : response.state)),
    ).to.deep.equal(["completed", "completed", "completed"]);
  });

  it("loses none of many works with a lost reply, where it has `pollMany`", async () => {
    const handles = await three();
    await work.running(tested().fake);
    tested().fake.spoil(work.status, "cut-reply");
    const kinds = await kindsOf(tested(), tested().provider, handles);
    for (const kind of kinds) expect(kind).to.be.oneOf(PASSING);
  });
}

/** With `pollMany` the failure may stand for all of them; without it the first of them has it. */
async function kindsOf(
  tested: ProviderUnderTest,
  provider: MusicProvider,
  handles: readonly ProviderHandle[],
): Promise<string[]> {
  const [first] = handles;
  if (first === undefined) return [];
  if (provider.pollMany === undefined) return [(await tested.failure(tested.poll(first))).kind];
  try {
    const responses = await provider.pollMany(handles.map(stored), { signal: new AbortController().signal });
    expect(responses).to.have.lengthOf(handles.length);
    return responses.map((response) => (ProviderFailure.is(response) ? response.kind : response.state));
  } catch (error) {
    return [tested.failureIn(error).kind];
  }
}
