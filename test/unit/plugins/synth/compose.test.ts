import { expect } from "chai";
import fc from "fast-check";
import { compose } from "../../../../plugins/synth/composer/compose.js";
import type { Composition } from "../../../../plugins/synth/composer/compose.js";
import { GENRES } from "../../../../plugins/synth/composer/genre-table.js";
import { onsetsOf } from "../../../../plugins/synth/composer/singing.js";
import { syllablesOf } from "../../../../plugins/synth/composer/lyrics.js";
import { MODES, mod } from "../../../../plugins/synth/composer/theory.js";
import { anyText } from "../../../support/any-text.js";

function notesOf(chunk: Composition): { start: number; seconds: number; midi: number; velocity: number }[] {
  return [
    ...chunk.parts.flatMap(({ notes }) => notes),
    ...(chunk.voice?.lines.flatMap(({ start, notes }) =>
      notes.map((note) => ({ ...note, start: start + note.start })),
    ) ?? []),
  ];
}

function expectPlayable(chunk: Composition): void {
  const within = (value: number, low: number, high: number): boolean => value >= low && value <= high;
  const unplayable = notesOf(chunk).filter(
    ({ start, seconds, midi, velocity }) =>
      !within(start, 0, chunk.seconds) ||
      !within(seconds, 0.01, 20) ||
      !within(midi, 20, 108) ||
      !within(velocity, 0.05, 1),
  );
  expect(unplayable).to.deep.equal([]);
  expect(chunk.hits.filter(({ start }) => !within(start, 0, chunk.seconds))).to.deep.equal([]);
  expect(chunk.endSeconds).to.be.within(0.1, chunk.seconds - 1.5);
}

describe("synth composer", () => {
  for (const { name, words } of GENRES) {
    it(`writes playable music with an ending: ${name}`, () => {
      for (const seconds of [5, 33, 240]) {
        const chunk = compose({ prompt: words[0] ?? name, lyrics: null, seconds, sung: false });
        expectPlayable(chunk);
        expect(notesOf(chunk).length).to.be.above(seconds / 4);
        expect(
          chunk.parts.some(({ notes }) => notes.some(({ start }) => Math.abs(start - chunk.endSeconds) < 0.001)),
          "final chord",
        ).to.equal(true);
      }
    });
  }

  it("never fails, whatever the words and the length", function () {
    this.timeout(30_000);
    const texts = fc.oneof(anyText(200), fc.string({ unit: "grapheme", maxLength: 80 }), fc.lorem({ maxCount: 20 }));
    fc.assert(
      fc.property(
        texts,
        fc.option(texts),
        fc.integer({ min: 5, max: 40 }),
        fc.boolean(),
        (prompt, lyrics, seconds, sung) => {
          expectPlayable(compose({ prompt, lyrics, seconds, sung }));
        },
      ),
      { numRuns: 100 },
    );
  });

  it("composes the same twice, and something else for another prompt", () => {
    const order = { prompt: "folk tale", lyrics: null, seconds: 20, sung: false };
    expect(compose(order)).to.deep.equal(compose(order));
    expect(notesOf(compose(order))).to.not.deep.equal(notesOf(compose({ ...order, prompt: "folk tales" })));
  });

  it("stays in its key except for leading notes and bass approaches", () => {
    const chunk = compose({ prompt: "pop in C major", lyrics: null, seconds: 30, sung: false });
    const scale: readonly number[] = MODES.major;
    const notes = notesOf(chunk);
    expect(notes.filter(({ midi }) => scale.includes(mod(midi, 12))).length / notes.length).to.be.above(0.97);
  });

  it("brings the tune of a section back", () => {
    const chunk = compose({ prompt: "pop anthem 120 bpm", lyrics: null, seconds: 60, sung: false });
    const lead = chunk.parts.find(({ name }) => name === "lead");
    const choruses = chunk.sections.filter(({ kind }) => kind === "chorus");
    expect(choruses.length).to.be.above(1);
    const tunes = choruses
      .slice(0, 2)
      .map(({ startBar }) =>
        (lead?.notes ?? [])
          .filter(({ start }) => start >= startBar * 2 - 0.05 && start < (startBar + 2) * 2 - 0.05)
          .map(({ midi }) => midi),
      );
    expect(tunes[0]).to.deep.equal(tunes[1]);
    expect(tunes[0]?.length).to.be.above(2);
  });

  it("moves chords by small steps", () => {
    const chunk = compose({ prompt: "ambient", lyrics: null, seconds: 60, sung: false });
    const pad = chunk.parts.find(({ name }) => name === "pad")?.notes ?? [];
    const starts = [...new Set(pad.map(({ start }) => start.toFixed(1)))];
    const centres = starts
      .map((start) => pad.filter((note) => note.start.toFixed(1) === start))
      .map((chord) => chord.reduce((sum, { midi }) => sum + midi, 0) / chord.length);
    centres.slice(1).forEach((centre, index) => expect(Math.abs(centre - (centres[index] ?? 0))).to.be.below(6));
  });

  it("plays a fill before a section and nothing of the drums after the end", () => {
    const chunk = compose({ prompt: "rock 120 bpm", lyrics: null, seconds: 40, sung: false });
    expect(chunk.hits.some(({ sound }) => sound.startsWith("tom") || sound === "snare")).to.equal(true);
    expect(Math.max(...chunk.hits.map(({ start }) => start))).to.equal(chunk.endSeconds);
  });
});

describe("synth singer", () => {
  it("sings every syllable of lyrics that fit on one note each, in order", () => {
    const lyrics =
      "Hello darkness my old friend\nI have come to talk again\n\nStay with me tonight\nStay until the light";
    const chunk = compose({ prompt: "slow pop 90 bpm", lyrics, seconds: 30, sung: true });
    const sung = chunk.voice?.lines.flatMap(({ notes }) => notes.map(({ syllable }) => syllable.text)) ?? [];
    const written = lyrics.split("\n").flatMap((line) => syllablesOf(line).map(({ text }) => text));
    expect(sung.slice(0, written.length)).to.deep.equal(written);
  });

  it("never sings two syllables at once", () => {
    const chunk = compose({
      prompt: "fast punk",
      lyrics: "one two three four five six seven eight nine ten\n".repeat(8),
      seconds: 20,
      sung: true,
    });
    for (const { notes } of chunk.voice?.lines ?? []) {
      notes.slice(1).forEach(({ start }, index) => expect(start).to.be.above(notes[index]?.start ?? 0));
    }
  });

  it("keeps what fits of lyrics that are too long, from the beginning", () => {
    const chunk = compose({
      prompt: "ballad",
      lyrics: Array.from({ length: 200 }, (_, index) => `line ${index % 10} of a long poem`).join("\n"),
      seconds: 12,
      sung: true,
    });
    const first = chunk.voice?.lines[0]?.notes.map(({ syllable }) => syllable.text).join(" ");
    expect(first).to.match(/^lin ze ?ro/u);
    for (const { start, notes } of chunk.voice?.lines ?? [])
      expect(start + (notes.at(-1)?.start ?? 0)).to.be.below(chunk.endSeconds);
  });

  it("begins syllables at distinct moments within the line", () => {
    for (let count = 1; count <= 40; count += 1) {
      const onsets = onsetsOf(count, 7);
      expect(new Set(onsets)).to.have.lengthOf(count);
      expect(Math.max(...onsets)).to.be.below(7);
    }
  });
});
