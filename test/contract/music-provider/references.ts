import { expect } from "chai";
import type { MusicRequest } from "../../../core/ports/music-provider.js";
import type { FakeRequest } from "../../support/provider-kit/request.js";
import { isApplicable, type MusicProviderHarness } from "./harness.js";
import { describeLost } from "./losses.js";
import { ModeUnderTest } from "./mode-under-test.js";
import { expectTracks } from "./operations.js";
import { describePoints } from "./reference-points.js";
import type { ProviderUnderTest } from "./tested.js";

/** Generations that work from a track, in each mode that a model declares. */
export function describeReferences(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  for (const mode of ModeUnderTest.allOf(harness)) {
    describeReference(mode, tested);
    describeMissing(mode, tested);
    describePoints(mode, tested);
    describeJob(mode, harness, tested);
    const { submit, completes } = mode.scenario;
    if (!isApplicable(submit)) continue;
    describeWithoutReference(mode, harness, tested);
    const request = (started: ProviderUnderTest): MusicRequest => mode.request(started);
    describeLost(mode.mode, harness, tested, (started) => ({
      ...{ name: "music", submit, completes },
      request: () => request(started),
    }));
  }
}

function describeReference(mode: ModeUnderTest, tested: () => ProviderUnderTest): void {
  for (const reference of mode.references) {
    const whose = reference === null ? "a track" : "a track of its own";
    it(`works from ${whose} and delivers the files: ${mode.mode}`, async () => {
      const { fake } = tested();
      const expected = await mode.scenario.completes(fake);
      const track = mode.track(tested(), reference);
      const outcome = await tested().submit(mode.request(tested(), {}, track));
      const { completed } = await tested().finish(outcome, "music");
      await expectTracks(completed, expected);
      const isThere = mode.scenario.receivedSource(fake.requests, track);
      expect(isThere, `the provider was given the track (harness: references.${mode.mode}.receivedSource)`).to.equal(
        true,
      );
    });
  }

  if (mode.capability.sources === "own") {
    it(`leaves with a track what it takes to work from it again: ${mode.mode}`, async () => {
      await mode.scenario.completes(tested().fake);
      const outcome = await tested().submit(mode.request(tested()));
      const { tracks } = (await tested().finish(outcome, "music")).completed;
      for (const { reference } of tracks) expect(reference, "the reference of a track").to.be.an("object");
    });
  }
}

/** What must be there for the track to be handed over. */
function describeMissing(mode: ModeUnderTest, tested: () => ProviderUnderTest): void {
  const { sources, needsUrl } = mode.capability;
  const lacking = [
    ...(sources === "own"
      ? ([
          ["the reference that it left with it", { reference: null }],
          ["a reference that it understands", { reference: { zq_unknown: "zq-unknown" } }],
        ] as const)
      : []),
    ...(needsUrl === true ? ([["a link", { url: null }]] as const) : []),
  ];
  for (const [what, source] of lacking) {
    it(`refuses a track without ${what}, and makes nothing else: ${mode.mode}`, async () => {
      const { requests, failure } = await mode.sentFor(tested(), mode.request(tested(), { source }));
      expect([failure?.kind, failure?.billable], `without ${what}`).to.deep.equal(["invalid_input", "no"]);
      expect(mode.created(tested()) ?? requests.length, "calls that create").to.equal(0);
    });
  }
}

/** A job is a job, whichever call it is. */
function describeJob(mode: ModeUnderTest, harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  const { idempotency, callbacks, lookup } = harness;
  const { submit } = mode.scenario;
  if (!isApplicable(submit)) return;
  const calls = (): FakeRequest[] => tested().fake.calls(submit);

  if (isApplicable(idempotency)) {
    it(`sends the key of the job, the same for every attempt: ${mode.mode}`, async () => {
      const first = mode.request(tested());
      for (const request of [first, { ...first, attemptId: `${first.attemptId}2`, attempt: 2 }, mode.request(tested())])
        await mode.sentFor(tested(), request);
      const [one, again, other] = calls().map((call) => idempotency.keyOf(call));
      expect(one, "the key (harness: idempotency.keyOf)").to.be.a("string").and.not.equal("");
      expect(again, "the key of the second attempt").to.equal(one);
      expect(other, "the key of another job").to.be.a("string").and.not.equal(one);
    });
  }
  if (isApplicable(callbacks)) {
    it(`tells where to report to: ${mode.mode}`, async () => {
      const callbackUrl = "https://fermata.example/callbacks/cb_7f3e9a";
      const { requests } = await mode.sentFor(tested(), mode.request(tested(), { callbackUrl }));
      expect(requests.map(wholeOf).join("\n"), "what was sent").to.include("cb_7f3e9a");
    });
  }
  if (isApplicable(lookup)) {
    it(`tells the id of the attempt, by which it is searched: ${mode.mode}`, async () => {
      const request = mode.request(tested());
      const { requests } = await mode.sentFor(tested(), request);
      expect(requests.map(wholeOf).join("\n"), "what was sent").to.include(request.attemptId);
    });
  }
}

function describeWithoutReference(
  mode: ModeUnderTest,
  harness: MusicProviderHarness,
  tested: () => ProviderUnderTest,
): void {
  const { generation } = harness;
  if (!isApplicable(generation)) return;
  it(`sends nothing of a track where a generation has none: ${mode.mode}`, async () => {
    const { fake } = tested();
    const track = mode.track(tested());
    await generation.completes(fake);
    await tested().submit(tested().music());
    expect(mode.scenario.receivedSource(fake.requests, track), "a track was sent where there is none").to.equal(false);
    expect(mode.pointsIn(fake.requests), "points and strength").to.deep.equal({});
    const { submit } = mode.scenario;
    if (!isApplicable(submit) || !isApplicable(generation.submit)) return;
    if (submit.method === generation.submit.method && submit.path === generation.submit.path) return;
    expect(fake.calls(submit).length, `calls of ${submit.path}`).to.equal(0);
  });
}

function wholeOf({ path, text, query, headers }: FakeRequest): string {
  return [path, text, JSON.stringify(query), JSON.stringify(headers)].join("\n");
}
