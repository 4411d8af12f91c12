import { expect } from "chai";
import { HEAD_BYTES, ImportFileError, type ImportFiles } from "../../core/ports/import-files.js";

/** A folder of files, used by one suite only. */
export interface ImportFilesUnderTest {
  readonly files: ImportFiles;
  close(): Promise<void>;
}

const LONG = new Uint8Array(100_000).map((_, index) => index % 251);
const SHORT = LONG.subarray(0, 3);

/** A folder with exactly these files. */
type OpenImportFiles = (contents: Readonly<Record<string, Uint8Array>>) => Promise<ImportFilesUnderTest>;

/**
 * The promises of every `ImportFiles`.
 *
 * @param open opens a folder with the given files, once for the suite
 */
export function importFilesContract(name: string, open: OpenImportFiles): void {
  describe(`ImportFiles contract: ${name}`, () => {
    let place: ImportFilesUnderTest;
    before(async () => {
      place = await open({ "sound/long.mp3": LONG, "..short.mp3": SHORT, "empty.mp3": new Uint8Array() });
    });
    after(() => place.close());

    async function bytesOf(path: string): Promise<Buffer> {
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await place.files.open(path)).read()) chunks.push(chunk);
      return Buffer.concat(chunks);
    }

    it("opens a file repeatedly, with its size, first bytes and content", async () => {
      for (let count = 0; count < 2; count++) {
        const { sizeBytes, head } = await place.files.open("sound/long.mp3");
        expect([sizeBytes, head]).to.deep.equal([LONG.length, LONG.subarray(0, HEAD_BYTES)]);
        expect((await bytesOf("sound/long.mp3")).equals(LONG)).to.equal(true);
      }
    });

    it("opens a short and an empty file, also with dots in its name", async () => {
      expect((await place.files.open("..short.mp3")).head).to.deep.equal(SHORT);
      expect(await place.files.open("empty.mp3")).to.deep.include({ sizeBytes: 0, head: new Uint8Array() });
      expect(await bytesOf("empty.mp3")).to.have.length(0);
    });

    for (const path of [
      "nothing.mp3",
      "sound",
      "sound/long.mp3/x",
      "../sound/long.mp3",
      "/etc/hostname",
      `${"x".repeat(300)}.mp3`,
    ]) {
      it(`refuses ${path.slice(0, 30)}`, async () => {
        const error: unknown = await place.files.open(path).then(
          () => null,
          (thrown: unknown) => thrown,
        );
        expect(error).to.be.instanceOf(ImportFileError);
      });
    }
  });
}
