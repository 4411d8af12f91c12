import { expect } from "chai";
import fc from "fast-check";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ImportRefusedError } from "../../../core/library/import-library.js";
import { fuzzed } from "../../support/fuzz/fuzz.js";
import { aChange, changed, oddText } from "../../support/fuzz/values.js";
import { SILENCE_WAV, UNHEARD } from "../../support/library-fixture.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";

const FILES = [
  "silence.wav",
  "./silence.wav",
  "sub/../silence.wav",
  "../secret.wav",
  "/etc/passwd",
  "",
  "x.wav",
  "a\u0000.wav",
];
const text = (...usual: readonly string[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: oddText });
const item = { account: fc.constant(null), visibility: fc.constant("public"), title: text("Rain") };

/** Documents that are right, or nearly. */
const documents = fc
  .tuple(
    fc.array(
      fc.record(
        {
          ...item,
          ref: text("a", "b", "c"),
          artist_label: text("Nightingale"),
          bpm: fc.oneof(fc.constant(96), fc.double()),
          audio_file: fc.constantFrom(...FILES),
          prompt: oddText,
          tags: fc.record({ mood: fc.array(oddText, { maxLength: 3 }) }, { requiredKeys: [], noNullPrototype: true }),
        },
        { requiredKeys: ["ref", "account", "visibility", "title", "artist_label"], noNullPrototype: true },
      ),
      { maxLength: 3 },
    ),
    fc.array(
      fc.record(
        { ...item, ref: text("p", "q"), tracks: fc.array(text("a", "b"), { maxLength: 3 }) },
        { noNullPrototype: true },
      ),
      { maxLength: 2 },
    ),
    fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 2, arbitrary: fc.array(aChange, { maxLength: 3 }) }),
  )
  .map(([tracks, playlists, changes]) => changed({ tracks, playlists }, changes));

describe("Import documents of any kind", function () {
  this.timeout(600_000);
  let test: TestApp;
  let folder: string;
  before(async () => {
    test = await startTestApp({ ...UNHEARD, listen: false });
    const parent = await mkdtemp(join(tmpdir(), "fermata-fuzz-"));
    folder = await mkdtemp(join(parent, "import-"));
    await writeFile(join(folder, "silence.wav"), SILENCE_WAV);
    await writeFile(join(parent, "secret.wav"), SILENCE_WAV);
  });
  after(async () => {
    await test.close();
    await rm(join(folder, ".."), { recursive: true });
  });

  fuzzed(
    "are imported, or refused with the place and the reason of every issue",
    { short: 150, long: 6_000 },
    () => documents,
    async (document) => {
      // As a file brings it.
      const read = JSON.parse(JSON.stringify(document) ?? "null") as unknown;
      try {
        const { tracks, playlists } = await test.app.library.import(read, folder);
        for (const { id } of [...tracks, ...playlists]) expect(id).to.match(/^(trk|pls)_/);
      } catch (error) {
        if (!(error instanceof ImportRefusedError)) throw error;
        expect(error.issues).to.not.be.empty;
        for (const { path, message } of error.issues) {
          expect(path).to.match(/^(|(tracks|playlists)\b.*|.{0,120})$/su);
          expect(message).to.match(/\w+ /);
        }
        expect(error.message).to.not.match(/TypeError|Cannot read|is not a function|ENOENT|\n\s+at |fermata-fuzz-/);
      }
    },
  );
});
