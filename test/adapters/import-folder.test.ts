import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { ImportFolder } from "../../adapters/audio/local/import-folder.js";
import { ImportFileError } from "../../core/ports/import-files.js";
import { importFilesContract } from "../contract/import-files.contract.js";

const BYTES = new Uint8Array(1_000);

importFilesContract("ImportFolder", async (contents) => {
  const folder = await mkdtemp(join(tmpdir(), "fermata-import-"));
  for (const [path, bytes] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
  return { files: new ImportFolder(folder), close: () => rm(folder, { recursive: true }) };
});

describe("ImportFolder", () => {
  let root: string;
  let files: ImportFolder;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "fermata-import-"));
    await mkdir(join(root, "in/sound"), { recursive: true });
    await writeFile(join(root, "in/sound/a.mp3"), BYTES);
    await writeFile(join(root, "secret.mp3"), BYTES);
    await symlink("sound/a.mp3", join(root, "in/inside.mp3"));
    await symlink("../secret.mp3", join(root, "in/outside.mp3"));
    await symlink("..", join(root, "in/up"));
    await symlink("loop.mp3", join(root, "in/loop.mp3"));
    await symlink("in", join(root, "door"));
    files = new ImportFolder(join(root, "in"));
  });
  after(() => rm(root, { recursive: true }));

  it("follows links within the folder, and a link to the folder itself", async () => {
    expect((await files.open("inside.mp3")).sizeBytes).to.equal(BYTES.length);
    expect((await new ImportFolder(join(root, "door")).open("sound/a.mp3")).sizeBytes).to.equal(BYTES.length);
  });

  const refusals: readonly (readonly [string, string])[] = [
    ["outside.mp3", "is outside the folder of the import"],
    ["up/secret.mp3", "is outside the folder of the import"],
    ["../secret.mp3", "is outside the folder of the import"],
    ["/etc/hostname", "there is no such file"],
    ["nothing.mp3", "there is no such file"],
    ["sound/a.mp3/b.mp3", "there is no such file"],
    [`${"x".repeat(300)}.mp3`, "there is no such file"],
    ["sound", "is no file"],
    ["loop.mp3", "is a symbolic link that leads to itself"],
  ];
  for (const [path, reason] of refusals) {
    it(`refuses ${path.slice(0, 30)}: ${reason}`, async () => {
      const error: unknown = await files.open(path).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(ImportFileError);
      expect((error as Error).message).to.equal(reason);
    });
  }

  it("refuses an absolute path, also one into the folder", async () => {
    const error: unknown = await new ImportFolder("/").open(join(root, "in/sound/a.mp3")).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect((error as Error).message).to.equal("is outside the folder of the import");
  });
});
