import { expect } from "chai";
import { audioEndingOf, audioTypeOf } from "../../../../core/library/audio-type.js";
import type { ImportFile } from "../../../../core/ports/import-files.js";
import { audioFileIssue } from "../../../../core/library/import-rules.js";

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

const HEADS: readonly (readonly [what: string, head: string, type: string | null])[] = [
  ["RIFF with WAVE", "RIFF\x24\x00\x00\x00WAVEfmt ", "wav"],
  ["RIFF with something else", "RIFF\x24\x00\x00\x00AVI LIST", null],
  ["FLAC", "fLaC\x00\x00\x00\x22", "flac"],
  ["Ogg", "OggS\x00\x02", "ogg"],
  ["MPEG-4 sound", "\x00\x00\x00\x20ftypM4A ", "m4a"],
  ["a QuickTime film", "\x00\x00\x00\x20ftypqt  ", null],
  ["a tag before MP3", "ID3\x04\x00\x00\x00\x00\x00\x00", "mp3"],
  ["a frame of MPEG-1 layer III", "\xff\xfb\x90\x64", "mp3"],
  ["a frame of MPEG-2 layer III", "\xff\xf3\x40\xc4", "mp3"],
  ["a frame of layer II", "\xff\xfd\x90\x64", null],
  ["AAC in ADTS", "\xff\xf1\x50\x80", null],
  ["a frame of a reserved version", "\xff\xeb\x90\x64", null],
  ["a frame of no bit rate", "\xff\xfb\xf0\x64", null],
  ["a frame of no sample rate", "\xff\xfb\x9c\x64", null],
  ["a picture", "\x89PNG\r\n\x1a\n", null],
  ["text", "<html>", null],
  ["nothing", "", null],
];

describe("What a file of sound is", () => {
  for (const [what, head, type] of HEADS) {
    it(`goes by its first bytes: ${what}`, () => {
      expect(audioTypeOf(bytes(head))).to.equal(type);
    });
  }

  it("and by the ending of its name, in any case", () => {
    const names = [
      "a.mp3",
      "dir/b.WAV",
      "c.d.flac",
      "e.Ogg",
      "f.m4a",
      "g.aac",
      "mp3",
      "h.mp3.txt",
      "i.",
      "toString",
      "x.constructor",
    ];
    expect(names.map(audioEndingOf)).to.deep.equal([
      "mp3",
      "wav",
      "flac",
      "ogg",
      "m4a",
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  it("must be the same by both, within the size that is allowed", () => {
    const file = (head: string, sizeBytes = 10): ImportFile => ({ head: bytes(head), sizeBytes, read: () => never() });
    expect(audioFileIssue("a.flac", file("fLaC"), 10)).to.equal(null);
    expect(audioFileIssue("a.flac", file("fLaC", 11), 10)).to.equal("has 11 bytes; at most 10 are allowed");
    expect(audioFileIssue("a.mp3", file("fLaC"), 10)).to.equal("holds flac, although it ends with mp3");
    expect(audioFileIssue("a.mp3", file("hello"), 10)).to.equal("holds none of mp3, wav, flac, ogg, m4a");
    expect(audioFileIssue("a.txt", file("fLaC"), 10)).to.equal("must end with one of mp3, wav, flac, ogg, m4a");
  });
});

function never(): AsyncIterable<Uint8Array> {
  throw new Error("It was read.");
}
