import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { fingerprint, loadOrCreateSecretKeys, SECRET_KEY_LENGTH_MIN } from "../../adapters/crypto/secret-key.js";
import { digestContract } from "../contract/digest.contract.js";

digestContract("NodeDigest", () => new NodeDigest());

const firstKey = async (dataDir: string): Promise<string> => (await loadOrCreateSecretKeys(dataDir))[0] as string;

describe("the secret key file", () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "fermata-key-"));
  });

  afterEach(() => rm(directory, { recursive: true }));

  it("is made once, for its owner only, and read from then on", async () => {
    const dataDir = join(directory, "not", "there", "yet");
    const key = await firstKey(dataDir);
    expect(key.length).to.be.at.least(SECRET_KEY_LENGTH_MIN);
    expect((await stat(join(dataDir, "secret.key"))).mode & 0o777).to.equal(0o600);
    expect(await firstKey(dataDir)).to.equal(key);
    expect(await readdir(dataDir)).to.deep.equal(["secret.key"]);
  });

  it("holds one key, however many processes make it at once", async () => {
    const starts = Array.from({ length: 40 }, async (_, turns) => {
      for (let turn = 0; turn < turns; turn++) await nextTurn(); // some find no file, some half of the work done, some all
      return firstKey(directory);
    });
    const keys = await Promise.all(starts);
    expect(new Set(keys).size).to.equal(1);
    expect((await readFile(join(directory, "secret.key"), "utf8")).trim()).to.equal(keys[0]);
    expect(await readdir(directory)).to.deep.equal(["secret.key"]);
  });

  it("may be an operator's own, with white space around", async () => {
    const own = "an operator's own key of more than 32 characters";
    await writeFile(join(directory, "secret.key"), `\n${own}\n`);
    expect(await firstKey(directory)).to.equal(own);
  });

  it("is refused and left alone when it is too short", async () => {
    await writeFile(join(directory, "secret.key"), "short");
    const error = await firstKey(directory).then(
      () => null,
      (refusal: Error) => refusal,
    );
    expect(error?.message).to.include("secret.key").and.include("fewer than 32 characters").and.include("secrets.key");
    expect(await readFile(join(directory, "secret.key"), "utf8")).to.equal("short");
  });
});

describe("the fingerprint of a secret key", () => {
  it("is the same for the same key, another for another, and holds nothing of it", () => {
    const key = "0123456789abcdef0123456789abcdef";
    expect(fingerprint(key)).to.match(/^[0-9a-f]{16}$/);
    expect(fingerprint(key)).to.equal(fingerprint(key));
    expect(fingerprint(key)).to.not.equal(fingerprint(`${key}0`));
    expect(key).to.not.include(fingerprint(key).slice(0, 8));
  });
});
