import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "chai";
import type { CheckResult } from "../../../core/ports/self-check.js";
import { tinyMp3 } from "../../support/provider-kit/sounds.js";
import { useSandbox } from "../../support/process.js";

describe("The files of an installation, with umask 022", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();
  let umask: number;
  before(() => (umask = process.umask(0o022)));
  after(() => process.umask(umask));

  /**
   * The files in the data directory, itself included, that users other than its owner may access: path and permissions.
   */
  async function openToOthers(dataDir: string): Promise<string[]> {
    const names = await readdir(dataDir, { recursive: true });
    const found: string[] = [];
    for (const name of [".", ...names]) {
      const { mode } = await stat(join(dataDir, name));
      if ((mode & 0o077) !== 0) found.push(`${name} ${(mode & 0o777).toString(8)}`);
    }
    return found;
  }

  async function importTrack(dataDir: string): Promise<void> {
    const folder = await sandbox.dataDir();
    await writeFile(join(folder, "a.mp3"), tinyMp3());
    const track = { ref: "a", visibility: "public", title: "Rain", artist_label: "Me", audio_file: "a.mp3" };
    await writeFile(join(folder, "library.json"), JSON.stringify({ tracks: [track] }));
    await sandbox.json(["library", "import", join(folder, "library.json")], dataDir);
  }

  it("are readable only for the user that it runs as: directories, database, keys and audio", async () => {
    const dataDir = join(await sandbox.dataDir(), "fermata", "data");
    const started = sandbox.spawn(["start"], dataDir);
    await started.demoKey();
    await importTrack(dataDir);
    const names = await readdir(dataDir, { recursive: true });
    const kinds = [
      /^fermata\.sqlite$/,
      /^fermata\.sqlite-wal$/,
      /^fermata\.sqlite-shm$/,
      /^secret\.key$/,
      /^demo\.key$/,
    ];
    for (const kind of [...kinds, /^audio\/trk_\w+\/mix\.mp3$/]) {
      expect(
        names.some((name) => kind.test(name)),
        String(kind),
      ).to.equal(true);
    }
    expect(await openToOthers(dataDir)).to.deep.equal([]);
    expect((await stat(dirname(dataDir))).mode & 0o077).to.equal(0);
    const { checks } = await sandbox.json<{ checks: readonly CheckResult[] }>(["doctor"], dataDir);
    expect(checks.filter(({ result }) => result === "failed")).to.deep.equal([]);
    expect(await started.stop()).to.equal(0);
  });

  it("have the same permissions when `migrate` creates them", async () => {
    const dataDir = join(await sandbox.dataDir(), "data");
    await sandbox.json(["migrate"], dataDir);
    expect(await readdir(dataDir)).to.include("fermata.sqlite");
    expect(await openToOthers(dataDir)).to.deep.equal([]);
  });

  it("are reported by the doctor when an earlier version left them open, and fixed by the next start", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    await sandbox.json(["jobs", "list"], dataDir);
    await chmod(dataDir, 0o755);
    await chmod(join(dataDir, "audio"), 0o755);
    await chmod(join(dataDir, "fermata.sqlite"), 0o644);
    const { code, json } = await sandbox.command(["doctor", "--json"], dataDir);
    expect(code).to.equal(1);
    const failed = json<{ checks: readonly CheckResult[] }>().checks.filter(({ result }) => result === "failed");
    expect(failed.map(({ name }) => name)).to.deep.equal(["data directory", "audio directory", "sqlite file"]);
    const [data, audio, database] = failed.map(({ fix }) => fix);
    expect([data, audio]).to.deep.equal([`\`chmod 700 ${dataDir}\``, `\`chmod 700 ${join(dataDir, "audio")}\``]);
    expect(database).to.include(`chmod 600 ${join(dataDir, "fermata.sqlite")}`);

    const started = sandbox.call(["start"], dataDir);
    await started.listening();
    expect(started.stderr).to.include("Other users of this machine could read stored data");
    expect(await openToOthers(dataDir)).to.deep.equal([]);
    await sandbox.json(["doctor"], dataDir);
    expect(await started.stop()).to.equal(0);
  });

  it("do not include a directory with other files, whose permissions stay", async () => {
    const dataDir = join(await sandbox.dataDir(), "shared");
    await mkdir(dataDir, { mode: 0o755 });
    await writeFile(join(dataDir, "notes.txt"), "ours", { mode: 0o644 });
    const started = sandbox.call(["start"], dataDir, { FERMATA_SECRETS__KEY: "k".repeat(40) });
    await started.listening();
    const own = (await openToOthers(dataDir)).sort();
    expect(own).to.deep.equal([". 755", "notes.txt 644"]);
    expect(await started.stop()).to.equal(0);
  });
});
