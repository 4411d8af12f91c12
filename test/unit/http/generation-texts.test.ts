import { expect } from "chai";
import { GenerationTexts, pageOfGenerations } from "../../../adapters/http/presenters/generation-texts.js";
import type { JobId } from "../../../core/ids.js";
import type { ShownGeneration } from "../../../core/generations/read-generations.js";
import { ShareUrls } from "../../../core/library/share-urls.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { aJob, anAsset, anId, aTrack, NOON } from "../../support/builders.js";

const EDGE = 24 * 1024 * 1024;

function setUp() {
  const parts = { period: "one", signed: 0 };
  const audioUrls = {
    period: () => parts.period,
    sign: (audioKey: string) => `https://music.example/audio/${audioKey}?period=${parts.period}&n=${++parts.signed}`,
  };
  const clock = new ManualClock();
  const shareUrls = new ShareUrls(() => "https://music.example");
  const texts = new GenerationTexts({ audioUrls, shareUrls, clock });
  const kept = (id: JobId, version: string): string | undefined =>
    texts.kept([{ id, version, createdAt: NOON }])[0]?.text;
  return { parts, clock, texts, kept };
}

function aGeneration(title = "Rain"): ShownGeneration {
  return { job: aJob({ status: "completed" }), tracks: [aTrack({ title, assets: [anAsset()] })] };
}

describe("Generations as JSON", () => {
  it("are kept by their version, links included", () => {
    const { parts, texts, kept } = setUp();
    const generation = aGeneration();
    const { text } = texts.of(generation, "completed 3");
    expect(JSON.parse(text)).to.deep.include({ id: generation.job.id, status: "completed" });
    expect(kept(generation.job.id, "completed 3")).to.equal(text);
    expect(kept(generation.job.id, "completed 0")).to.equal(undefined);
    expect(kept(anId("job"), "completed 3")).to.equal(undefined);
    const state = { id: generation.job.id, version: "completed 3", createdAt: NOON };
    const states = [{ ...state, id: anId("job") }, state, { ...state, version: "" }];
    expect(texts.kept(states).map((one) => one?.text)).to.deep.equal([undefined, text, undefined]);
    expect(parts.signed).to.equal(1);
  });

  it("are not kept without a version", () => {
    const { texts, kept } = setUp();
    const generation = aGeneration();
    texts.of(generation, null);
    expect(kept(generation.job.id, "null")).to.equal(undefined);
  });

  it("are not kept beyond the period of their links", () => {
    const { parts, texts, kept } = setUp();
    const generation = aGeneration();
    texts.of(generation, "completed 3");
    parts.period = "two";
    expect(kept(generation.job.id, "completed 3")).to.equal(undefined);
    const { text } = texts.of(generation, "completed 3");
    expect(text).to.include("period=two");
    expect(kept(generation.job.id, "completed 3")).to.equal(text);
  });

  it("are kept for less than ten minutes, also when the clock is set back", async () => {
    const { clock, texts, kept } = setUp();
    const generation = aGeneration();
    texts.of(generation, "1");
    await clock.advance(599_999);
    expect(kept(generation.job.id, "1")).to.be.a("string");
    await clock.advance(1);
    expect(kept(generation.job.id, "1")).to.equal(undefined);
    texts.of(generation, "1");
    await clock.advance(-1);
    expect(kept(generation.job.id, "1")).to.equal(undefined);
  });

  it("are kept up to so many characters, the least recently used are given up first", () => {
    const { texts, kept } = setUp();
    const generations = Array.from({ length: 5 }, () => aGeneration("x".repeat(EDGE / 4 - 2_000)));
    const [first, second, third, fourth, fifth] = generations.map(({ job }) => job.id);
    for (const generation of generations.slice(0, 4)) texts.of(generation, "1");
    const isKept = (id = anId("job")): boolean => kept(id, "1") !== undefined;
    expect([first, second, third, fourth].map(isKept)).to.deep.equal([true, true, true, true]);
    isKept(first);
    texts.of(generations[4] as ShownGeneration, "1");
    expect([first, second, third, fourth, fifth].map(isKept)).to.deep.equal([true, false, true, true, true]);
  });

  it("are pages as they are sent, in any letters", () => {
    const { texts } = setUp();
    const generations = ["Rain", "雨 🌧️", "Ünder"].map((title) => texts.of(aGeneration(title), null));
    for (const count of [0, 1, 3]) {
      const shown = generations.slice(0, count);
      const page = pageOfGenerations(shown, count === 3 ? "next" : null).toString();
      const expected = {
        generations: shown.map(({ text }) => JSON.parse(text) as unknown),
        next_cursor: count === 3 ? "next" : null,
      };
      expect(page).to.equal(JSON.stringify({ data: expected }));
    }
  });
});
