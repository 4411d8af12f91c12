import { expect } from "chai";
import type { Completed, ProviderAsset } from "../../../core/ports/music-provider.js";
import { bytesOfSource, typeOfBytes } from "./assets.js";
import { expectNone } from "./expect-none.js";
import {
  type ExpectedFile,
  type ExpectedStems,
  type ExpectedTracks,
  isApplicable,
  type MusicProviderHarness,
  type SplitScenarios,
} from "./harness.js";
import type { Operation, ProviderUnderTest } from "./tested.js";

/** What is delivered when all goes well. */
export function describeOperations(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  const { generation, work } = harness;

  if (isApplicable(generation)) {
    it("makes a generation and delivers its files", async () => {
      const expected = await generation.completes(tested().fake);
      await expectTracks(await carriedOut(tested(), "music"), expected);
    });

    const { severalTracks } = generation;
    if (isApplicable(severalTracks)) {
      it("delivers every track of several, in the provider's order", async () => {
        const expected = await severalTracks(tested().fake);
        expect(expected.mixes.length, "the scenario `severalTracks` makes").to.be.at.least(2);
        await expectTracks(await carriedOut(tested(), "music"), expected);
      });
    } else {
      it(`makes one track of one submission: ${severalTracks.notApplicable}`, async () => {
        await generation.completes(tested().fake);
        expect((await carriedOut(tested(), "music")).tracks).to.have.lengthOf(1);
      });
    }
  }

  for (const [operation, scenarios] of [
    ["stem_split", harness.stemSplit],
    ["vocal_removal", harness.vocalRemoval],
  ] as const) {
    if (isApplicable(scenarios)) describeSplit(operation, scenarios, tested);
  }

  it("makes its calls with the host's `fetch`, and only such as the provider has", async () => {
    const { fake, host, main } = tested();
    await main.completes(fake);
    await carriedOut(tested(), main.name);
    expectNone(fake.unexpected, "calls that the scenario does not know");
    const calls = fake.requests.filter(({ path }) => !path.startsWith("/fake-files/"));
    expect(calls.length, "calls that came in, and are not the host's `fetch`").to.be.at.most(host.fetched.length);
  });

  if (!isApplicable(work)) {
    it(`answers every submission completed: ${work.notApplicable}`, async () => {
      for (const { name, completes, request } of tested().operations()) {
        await completes(tested().fake);
        expect((await tested().submit(request())).state, name).to.equal("completed");
      }
    });
  }
}

function describeSplit(
  operation: "stem_split" | "vocal_removal",
  scenarios: SplitScenarios,
  tested: () => ProviderUnderTest,
): void {
  const declared = (): { readonly sources: "any" | "own"; readonly needsUrl?: boolean } => {
    const { stemSplit, vocalRemoval } = tested().capabilities;
    return (operation === "stem_split" ? stemSplit : vocalRemoval) ?? { sources: "any" };
  };

  it(`takes a track apart and delivers its parts: ${operation}`, async () => {
    const { fake } = tested();
    const { stems, cost } = await scenarios.completes(fake);
    const request = tested().split(operation, scenarios);
    const { completed } = await tested().finish(await tested().submit(request), operation);
    await expectStems(completed, { stems, ...(cost === undefined ? {} : { cost }) });
    expect(
      scenarios.receivedSource(fake.requests, request.source),
      "the provider was sent the track (harness: receivedSource)",
    ).to.equal(true);
  });

  it(`asks the provider for nothing where the track cannot be handed over: ${operation}`, async () => {
    await scenarios.completes(tested().fake);
    const usual = tested().split(operation, scenarios);
    const lacking = [
      ...(declared().sources === "own"
        ? [{ what: "its reference", source: { ...usual.source, reference: null } }]
        : []),
      ...(declared().needsUrl === true ? [{ what: "its URL", source: { ...usual.source, url: null } }] : []),
    ];
    for (const { what, source } of lacking) {
      const failure = await tested().failure(tested().submit({ ...usual, source }));
      expect(failure.kind, `without ${what}`).to.be.oneOf(["invalid_input", "misconfigured"]);
    }
    if (lacking.length === 0) expect(declared()).to.include({ sources: "any" });
    const calls = isApplicable(scenarios.submit) ? tested().fake.calls(scenarios.submit) : tested().fake.requests;
    expect(calls).to.have.lengthOf(0);
  });
}

/** Submits, and asks until it is done. */
export async function carriedOut(tested: ProviderUnderTest, operation: Operation["name"]): Promise<Completed> {
  const request = tested
    .operations()
    .find(({ name }) => name === operation)
    ?.request();
  if (request === undefined) throw new Error(`the harness has no ${operation}`);
  const outcome = await tested.submit(request);
  const { completed, running } = await tested.finish(outcome, operation);
  if (outcome.state === "accepted")
    expect(running, "how often the scenario `completes` shows the work running").to.be.at.least(1);
  return completed;
}

export async function expectExpected(completed: Completed, expected: ExpectedTracks | ExpectedStems): Promise<void> {
  await ("stems" in expected ? expectStems(completed, expected) : expectTracks(completed, expected));
}

export async function expectTracks(
  { tracks, cost }: Completed,
  { mixes, cost: expectedCost, tracks: said = [] }: ExpectedTracks,
): Promise<void> {
  expect(tracks.length, "number of tracks").to.equal(mixes.length);
  const files = await Promise.all(tracks.map(({ assets }) => bytesOfAsset(assets.find(({ role }) => role === "mix"))));
  files.forEach((bytes, index) =>
    expect(
      Buffer.from(mixes[index] ?? []).equals(bytes),
      `the bytes of track ${index} are those that the provider has`,
    ).to.equal(true),
  );
  // Each is read as the host would read it, whatever it is: a stem, a cover.
  for (const { assets } of tracks) await Promise.all(assets.map(bytesOfAsset));
  expect(cost, "cost").to.deep.equal(expectedCost);
  for (const [index, { mixSeconds, otherFiles, ...rest }] of said.entries()) {
    expect(tracks[index]).to.deep.include(rest);
    const assets = tracks[index]?.assets ?? [];
    if (otherFiles !== undefined) await expectOtherFiles(`of track ${index}`, assets, otherFiles);
    if (mixSeconds === undefined) continue;
    const { durationSeconds = null } = assets.find(({ role }) => role === "mix") ?? {};
    if (mixSeconds === null) expect(durationSeconds).to.equal(null);
    else expect(durationSeconds, `seconds of track ${index}`).to.be.closeTo(mixSeconds, 0.001);
  }
}

async function expectOtherFiles(
  of: string,
  assets: readonly ProviderAsset[],
  expected: readonly ExpectedFile[],
): Promise<void> {
  const nameOf = ({ role, label }: Pick<ProviderAsset, "role" | "label">): string => `${role} ${label}`;
  const others = assets.filter(({ role }) => role !== "mix");
  expect(others.map(nameOf).sort(), `files ${of} in addition to the mix`).to.deep.equal(expected.map(nameOf).sort());
  for (const file of expected) {
    const bytes = await bytesOfAsset(others.find((asset) => nameOf(asset) === nameOf(file)));
    expect(
      Buffer.from(file.bytes).equals(bytes),
      `the bytes of ${nameOf(file)} ${of} are those that the provider has`,
    ).to.equal(true);
  }
}

async function expectStems({ stems = [], cost }: Completed, expected: ExpectedStems): Promise<void> {
  expect(stems.map(({ label }) => label).sort(), "stems by our labels").to.deep.equal(
    Object.keys(expected.stems).sort(),
  );
  for (const stem of stems) {
    expect(
      Buffer.from(expected.stems[stem.label] ?? []).equals(await bytesOfAsset(stem)),
      `the bytes of ${stem.label} are those that the provider has`,
    ).to.equal(true);
  }
  expect(cost, "cost").to.deep.equal(expected.cost);
}

async function bytesOfAsset(asset: ProviderAsset | undefined): Promise<Uint8Array> {
  if (asset === undefined) throw new Error("there is no mix");
  const bytes = await bytesOfSource(asset.source);
  const type = typeOfBytes(bytes);
  expect(type, `the first bytes of ${asset.role} ${asset.label} are those of a file that is stored`).to.not.equal(null);
  if (asset.contentType !== null)
    expect(asset.contentType, `the content type of ${asset.role} ${asset.label}, by its first bytes`).to.equal(type);
  return bytes;
}
