import { createHmac, randomBytes } from "node:crypto";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { fingerprint, loadOrCreateSecretKeys, SECRET_KEY_LENGTH_MIN } from "../../adapters/crypto/secret-key.js";
import { digestContract } from "../contract/digest.contract.js";

digestContract("NodeDigest", () => new NodeDigest());

describe("NodeDigest", () => {
  it("computes the HMAC of texts and keys of every length as OpenSSL does", () => {
    const digest = new NodeDigest();
    for (const keyLength of [0, 1, 32, 63, 64, 65, 200]) {
      const key = new Uint8Array(randomBytes(keyLength));
      for (const length of [0, 1, 55, 64, 341, 342, 2_000])
        for (const text of ["x".repeat(length), "é🎵".repeat(length).slice(0, length)]) {
          const expected = createHmac("sha256", key).update(text, "utf8").digest("base64url");
          expect(digest.hmacSha256(key, text), `${keyLength}, ${length}`).to.equal(expected);
        }
    }
  });
});

const firstKey = async (dataDir: string): Promise<string> => (await loadOrCreateSecretKeys(dataDir))[0] as string;

describe("The secret key file", () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "fermata-key-"));
  });

  afterEach(() => rm(directory, { recursive: true }));

  it("is created once, readable only for its owner, and read from then on", async () => {
    const dataDir = join(directory, "not", "there", "yet");
    const key = await firstKey(dataDir);
    expect(key.length).to.be.at.least(SECRET_KEY_LENGTH_MIN);
    expect((await stat(join(dataDir, "secret.key"))).mode & 0o777).to.equal(0o600);
    expect(await firstKey(dataDir)).to.equal(key);
    expect(await readdir(dataDir)).to.deep.equal(["secret.key"]);
  });

  it("has one key, however many processes create it at once", async () => {
    const starts = Array.from({ length: 40 }, async (_, turns) => {
      for (let turn = 0; turn < turns; turn++) await nextTurn(); // some find no file, some a partly written one, some a
      // whole one
      return firstKey(directory);
    });
    const keys = await Promise.all(starts);
    expect(new Set(keys).size).to.equal(1);
    expect((await readFile(join(directory, "secret.key"), "utf8")).trim()).to.equal(keys[0]);
    expect(await readdir(directory)).to.deep.equal(["secret.key"]);
  });

  it("may be written by the operator, with white space around the key", async () => {
    const own = "an operator's own key of more than 32 characters";
    await writeFile(join(directory, "secret.key"), `\n${own}\n`);
    expect(await firstKey(directory)).to.equal(own);
  });

  it("is refused and not changed when it is too short", async () => {
    await writeFile(join(directory, "secret.key"), "short");
    const error = await firstKey(directory).then(
      () => null,
      (refusal: Error) => refusal,
    );
    expect(error?.message).to.include("secret.key").and.include("fewer than 32 characters").and.include("secrets.key");
    expect(await readFile(join(directory, "secret.key"), "utf8")).to.equal("short");
  });
});

describe("The fingerprint of a secret key", () => {
  it("depends only on the key, and contains nothing of it", () => {
    const key = "0123456789abcdef0123456789abcdef";
    expect(fingerprint(key)).to.match(/^[0-9a-f]{16}$/);
    expect(fingerprint(key)).to.equal(fingerprint(key));
    expect(fingerprint(key)).to.not.equal(fingerprint(`${key}0`));
    expect(key).to.not.include(fingerprint(key).slice(0, 8));
  });
});
