import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { checkSecretKey, type SecretKeyCheckOptions } from "../../adapters/crypto/doctor.js";
import { fingerprint } from "../../adapters/crypto/secret-key.js";
import { checkClock, checkFolder } from "../../adapters/system/doctor.js";
import type { CheckResult } from "../../core/ports/self-check.js";
import { temporaryFolder } from "../support/databases.js";

const KEY = "k".repeat(43);

describe("The doctor of a folder", () => {
  const check = (path: string, isPrivate = true): Promise<readonly CheckResult[]> =>
    checkFolder({ name: "data directory", path, setting: "dataDir", fileMaxBytes: 1, isPrivate });

  it("finds one that can be written, and leaves nothing in it", async () => {
    const folder = await temporaryFolder();
    const [rights, space] = await check(folder);
    expect(rights?.message).to.include(`${folder} can be written`);
    expect(space?.message).to.match(/^\d+\.\d GiB are free in /);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("finds one that other users may read, unless others have their things in it too", async () => {
    const folder = await temporaryFolder();
    for (const mode of [0o750, 0o705, 0o710]) {
      await chmod(folder, mode);
      const [found] = await check(folder);
      expect(found).to.include({ result: "failed", fix: `\`chmod 700 ${folder}\`` });
      expect(found?.message).to.include(`${folder} has the rights ${mode.toString(8)}`);
      expect((await check(folder, false)).map(({ result }) => result)).not.to.include("failed");
    }
  });

  it("finds where a directory can be created, and does not create it", async () => {
    const folder = await temporaryFolder();
    const [rights] = await check(join(folder, "deep", "down"));
    expect(rights?.message).to.include(`${join(folder, "deep", "down")} is made at the first start`);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("finds a directory that cannot be written or created, and names the setting", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "file"), "");
    for (const path of [join(folder, "file"), join(folder, "file", "data")]) {
      const [found, ...others] = await check(path);
      expect([found?.name, found?.result, others], path).to.deep.equal(["data directory", "failed", []]);
      expect(found?.message).to.include(`${path} (dataDir) cannot be written: `).and.include("ENOTDIR");
    }
  });
});

describe("The doctor of the clock", () => {
  for (const [aheadMs, result, says] of [
    [0, "ok", /agree to \d+ ms\.$/],
    [1_500, "ok", /agree to 1\d\d\d ms\.$/],
    [-1_500, "ok", /agree to 1\d\d\d ms\.$/],
    [2_500, "warning", /is 2\.5 s ahead of the storage's\./],
    [-61 * 60_000, "warning", /is 36(60|59)\.\d s behind the storage's\./],
  ] as const) {
    it(`finds a machine that is ${aheadMs} ms ahead: ${result}`, async () => {
      const found = await checkClock({ readStorageTime: async () => Date.now(), wall: () => Date.now() + aheadMs });
      expect([found.name, found.result]).to.deep.equal(["clock", result]);
      expect(found.message).to.match(says);
    });
  }
});

describe("The doctor of the secret key", () => {
  let dataDir: string;
  let path: string;
  beforeEach(async () => {
    dataDir = await temporaryFolder();
    path = join(dataDir, "secret.key");
  });

  const check = (question: Partial<SecretKeyCheckOptions> = {}): Promise<CheckResult> =>
    checkSecretKey({ given: null, dataDir, kept: null, isShared: false, ...question });

  it("leaves it to the first start to make one", async () => {
    expect(await check()).to.include({ result: "ok", message: `${path} is made at the first start.` });
    expect(await readdir(dataDir)).to.deep.equal([]);
  });

  it("finds a file that others may read, and is content when it is closed to them", async () => {
    await writeFile(path, KEY, { mode: 0o600 });
    for (const mode of [0o640, 0o604, 0o666]) {
      await chmod(path, mode);
      const found = await check();
      expect(found).to.include({ result: "failed", fix: `\`chmod 600 ${path}\`` });
      expect(found.message).to.include(`the rights ${mode.toString(8)}`);
    }
    await chmod(path, 0o600);
    expect((await check()).result).to.equal("ok");
  });

  it("finds a file that holds no key, or cannot be read", async () => {
    await writeFile(path, "short", { mode: 0o600 });
    expect(await check()).to.include({ result: "failed", fix: "Restore the file from a backup." });
    await mkdir(join(dataDir, "other", "secret.key"), { recursive: true, mode: 0o700 });
    await chmod(join(dataDir, "other", "secret.key"), 0o700);
    const unreadable = await check({ dataDir: join(dataDir, "other") });
    expect(unreadable.result).to.equal("failed");
    expect(unreadable.message).to.include("EISDIR");
  });

  it("finds a key that is not the storage's, wherever it comes from, and one that is missing", async () => {
    await writeFile(path, KEY, { mode: 0o600 });
    expect((await check({ kept: fingerprint(KEY) })).message).to.include("and the storage's");
    for (const question of [{}, { given: KEY }]) {
      const found = await check({ ...question, kept: fingerprint("another") });
      expect(found.result).to.equal("failed");
      expect(found.message).to.include("not the one this storage was first opened with").and.not.include(KEY);
    }
    const missing = await check({ dataDir: join(dataDir, "elsewhere"), kept: fingerprint(KEY) });
    expect(missing.result).to.equal("failed");
    expect(missing.message).to.include("is missing");
  });

  it("warns of a key of one machine where several may share the storage", async () => {
    expect(await check({ isShared: true })).to.include({ result: "warning" });
    await writeFile(path, KEY, { mode: 0o600 });
    const found = await check({ isShared: true });
    expect(found.result).to.equal("warning");
    expect(found.fix).to.include("FERMATA_SECRETS__KEY");
    expect((await check({ isShared: true, given: KEY })).result).to.equal("ok");
  });
});
