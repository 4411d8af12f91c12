import { expect } from "chai";
import { formatOf, PROBE_BYTES } from "../../../adapters/audio/analyser/format.js";

const bytes = (text: string): Buffer => Buffer.from(text, "latin1");
/** A page of Ogg whose first packet begins so. */
const oggPage = (packet: string): Buffer =>
  Buffer.concat([bytes("OggS"), Buffer.alloc(22), bytes(`\x01\x1e${packet}`)]);

/** Two frames in a row of the same header, each of the size that the header says. */
const mpegFrames = (header: string, size: number): string => header.padEnd(size, "\0").repeat(2);

describe("the format of a file", () => {
  it("is detected by its first bytes", () => {
    expect(formatOf(bytes("RIFF\x10\0\0\0WAVEfmt "))).to.equal("wav");
    expect(formatOf(bytes("RF64\xff\xff\xff\xffWAVEds64"))).to.equal("wav");
    expect(formatOf(bytes("fLaC\0\0\0\x22"))).to.equal("flac");
    expect(formatOf(oggPage("OpusHead\x01"))).to.equal("opus");
    expect(formatOf(oggPage("\x01vorbis"))).to.equal("vorbis");
    expect(formatOf(oggPage("\x7fFLAC\x01"))).to.equal("ogg-flac");
    expect(formatOf(bytes(`ID3\x04\0\0\0\0\0\0${mpegFrames("\xff\xfb\x90\x00", 417)}`))).to.equal("mp3");
    expect(formatOf(Buffer.concat([bytes("ID3\x04\0"), Buffer.alloc(PROBE_BYTES)]))).to.equal("mp3");
    expect(formatOf(bytes(mpegFrames("\xff\xfb\x90\x00", 417)))).to.equal("mp3");
    expect(formatOf(bytes(`\0\0\0junk${mpegFrames("\xff\xf3\x84\xc4", 192)}`))).to.equal("mp3");
  });

  it("is unknown for everything else, and for frame headers with reserved values", () => {
    const others = ["", "RIFF\0\0\0\0AVI ", "\0\0\0\x20ftypM4A ", "OggS", "text", "ID3 and then words"];
    const reserved = [
      "\xff",
      "\xff\xfb",
      "\xff\xe8\x90\0",
      "\xff\xf9\x90\0",
      "\xff\xfb\xf0\0",
      "\xff\xfb\x00\0",
      "\xff\xfb\x9c\0",
    ];
    for (const text of [...others, ...reserved]) expect(formatOf(bytes(text)), JSON.stringify(text)).to.equal(null);
    expect(formatOf(oggPage("\x80theora"))).to.equal(null);
  });
});
