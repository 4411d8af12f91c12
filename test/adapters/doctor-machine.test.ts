import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { checkSecretKey, type SecretKeyCheckOptions } from "../../adapters/crypto/doctor.js";
import { fingerprint } from "../../adapters/crypto/secret-key.js";
import { checkClock, checkFolder } from "../../adapters/system/doctor.js";
import type { CheckResult } from "../../core/ports/self-check.js";
import { temporaryFolder } from "../support/databases.js";

const KEY = "k".repeat(43);

describe("The doctor's checks of a folder", () => {
  const check = (path: string, isPrivate = true): Promise<readonly CheckResult[]> =>
    checkFolder({ name: "data directory", path, setting: "dataDir", fileMaxBytes: 1, isPrivate });

  it("pass for a writable one, and leave nothing in it", async () => {
    const folder = await temporaryFolder();
    const [rights, space] = await check(folder);
    expect(rights?.message).to.include(`${folder} can be written`);
    expect(space?.message).to.match(/^\d+\.\d GiB are free in /);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("report one that other users may read, unless it has files of others", async () => {
    const folder = await temporaryFolder();
    for (const mode of [0o750, 0o705, 0o710]) {
      await chmod(folder, mode);
      const [found] = await check(folder);
      expect(found).to.include({ result: "failed", fix: `\`chmod 700 ${folder}\`` });
      expect(found?.message).to.include(`${folder} has the rights ${mode.toString(8)}`);
      expect((await check(folder, false)).map(({ result }) => result)).not.to.include("failed");
    }
  });

  it("pass where one can be created, and do not create it", async () => {
    const folder = await temporaryFolder();
    const [rights] = await check(join(folder, "deep", "down"));
    expect(rights?.message).to.include(`${join(folder, "deep", "down")} is created at the first start`);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("report one that cannot be written or created, and name the setting", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "file"), "");
    for (const path of [join(folder, "file"), join(folder, "file", "data")]) {
      const [found, ...others] = await check(path);
      expect([found?.name, found?.result, others], path).to.deep.equal(["data directory", "failed", []]);
      expect(found?.message).to.include(`${path} (dataDir) cannot be written: `).and.include("ENOTDIR");
    }
  });
});

describe("The doctor's check of a folder to which no file can be written", () => {
  for (const [code, fix] of [
    ["ENOSPC", /^Its disk has no room for another file: make some \(`df -h \S+`, `df -i \S+`\), or set dataDir to /],
    ["EDQUOT", /^The quota of the user that Fermata runs as is used up: /],
    [
      "EROFS",
      /^Its filesystem is mounted read-only: mount it read-write \(`findmnt -T \S+` names it\), or set dataDir/,
    ],
    ["EACCES", /^Give it to the user that Fermata runs as \(`chown -R USER \S+`\), or set dataDir to another place\.$/],
  ] as const) {
    it(`names the fix for ${code}, and still says how much is free`, async () => {
      const path = await temporaryFolder();
      const failure = Object.assign(new Error(`${code}: refused, open '${path}/x'`), { code });
      const options = { name: "data directory", path, setting: "dataDir", fileMaxBytes: 1, isPrivate: true };
      const [found, space] = await checkFolder(options, () => Promise.reject(failure));
      expect([found?.name, found?.result]).to.deep.equal(["data directory", "failed"]);
      expect(found?.message).to.equal(`${path} (dataDir) cannot be written: ${failure.message}.`);
      expect(found?.fix).to.match(fix);
      expect([space?.name, space?.message]).to.satisfy(
        ([name, message]: string[]) =>
          name === "data directory space" && /^\d+\.\d GiB are free in /.test(message ?? ""),
      );
    });
  }
});

describe("The doctor's check of the clock", () => {
  for (const [aheadMs, result, says] of [
    [0, "ok", /agree to \d+ ms\.$/],
    [1_500, "ok", /agree to 1\d\d\d ms\.$/],
    [-1_500, "ok", /agree to 1\d\d\d ms\.$/],
    [2_500, "warning", /is 2\.5 s ahead of the storage's\./],
    [-61 * 60_000, "warning", /is 36(60|59)\.\d s behind the storage's\./],
  ] as const) {
    it(`reports a machine that is ${aheadMs} ms ahead as ${result}`, async () => {
      const found = await checkClock({ readStorageTime: async () => Date.now(), wall: () => Date.now() + aheadMs });
      expect([found.name, found.result]).to.deep.equal(["clock", result]);
      expect(found.message).to.match(says);
    });
  }
});

describe("The doctor's checks of the secret key", () => {
  let dataDir: string;
  let path: string;
  beforeEach(async () => {
    dataDir = await temporaryFolder();
    path = join(dataDir, "secret.key");
  });

  const check = (question: Partial<SecretKeyCheckOptions> = {}): Promise<CheckResult> =>
    checkSecretKey({ given: null, dataDir, kept: null, isShared: false, ...question });

  it("leave its creation to the first start", async () => {
    expect(await check()).to.include({ result: "ok", message: `${path} is created at the first start.` });
    expect(await readdir(dataDir)).to.deep.equal([]);
  });

  it("report a file that other users may read, and pass after the fix", async () => {
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

  it("report a file without a key, or one that cannot be read", async () => {
    await writeFile(path, "short", { mode: 0o600 });
    expect(await check()).to.include({ result: "failed", fix: "Restore the file from a backup." });
    await mkdir(join(dataDir, "other", "secret.key"), { recursive: true, mode: 0o700 });
    await chmod(join(dataDir, "other", "secret.key"), 0o700);
    const unreadable = await check({ dataDir: join(dataDir, "other") });
    expect(unreadable.result).to.equal("failed");
    expect(unreadable.message).to.include("EISDIR");
  });

  it("report a key that does not fit the storage, wherever it comes from, and a missing one", async () => {
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

  it("warn of a key file on one machine when several may share the storage", async () => {
    expect(await check({ isShared: true })).to.include({ result: "warning" });
    await writeFile(path, KEY, { mode: 0o600 });
    const found = await check({ isShared: true });
    expect(found.result).to.equal("warning");
    expect(found.fix).to.include("FERMATA_SECRETS__KEY");
    expect((await check({ isShared: true, given: KEY })).result).to.equal("ok");
  });
});
