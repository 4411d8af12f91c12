import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { eventually, filesUnder, Sandbox } from "../../support/process.js";

interface Collected {
  readonly dry_run: boolean;
  readonly found: object;
  readonly deleted: object;
  readonly failed: object;
  readonly left_alone: { readonly recent: object; readonly unknown: object };
}

const NONE = { prefixes: 0, files: 0, bytes: 0 };

describe("fermata audio", function () {
  this.timeout(120_000);
  let sandbox: Sandbox;
  let dataDir: string;
  let jobId: string;
  before(async () => {
    sandbox = new Sandbox();
    dataDir = await sandbox.dataDir();
    const url = await sandbox.call(["start"], dataDir, { FERMATA_DEMO__ENABLED: "false" }).listening();
    const { id } = await json<{ id: string }>(
      "accounts",
      "create",
      "alice",
      "--tier",
      "pro",
      "--accept-terms",
      "--credits",
      "100",
    );
    const api = new ApiClient(url, (await json<{ key: string }>("keys", "issue", id)).key);
    jobId = dataOf<{ id: string }>(await api.generate({ model_id: "synth/song", prompt: "calm rain", duration: 5 })).id;
    const status = async (): Promise<string> =>
      dataOf<{ status: string }>(await api.get(`/api/v1/generations/${jobId}`)).status;
    await eventually("completed", async () => (await status()) === "completed", 90_000);
  });
  after(() => sandbox.clear());

  const json = <T>(...args: readonly string[]): Promise<T> => sandbox.json<T>(args, dataDir);
  const files = async (): Promise<string[]> => (await filesUnder(join(dataDir, "audio"))).sort();
  /** A file that was last written two hours ago. */
  const leave = async (key: string): Promise<void> => {
    const path = join(dataDir, "audio", key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "0123456789");
    const then = new Date(Date.now() - 7_200_000);
    await utimes(path, then, then);
  };

  it("collect counts what lost workers left behind, and deletes it unless it is a dry run", async () => {
    const before = await files();
    expect(before).to.not.deep.equal([]);
    const orphans = [`${jobId}/7/0-mix.mp3`, `${jobId}/7/0-cover.png`];
    for (const key of [...orphans, "another/file.mp3"]) await leave(key);
    const withOrphans = await files();
    const found = { prefixes: 1, files: 2, bytes: 20 };
    const unknown = { prefixes: 1, files: 1, bytes: 10 };

    const dry = await json<Collected>("audio", "collect", "--dry-run");
    expect(dry).to.deep.include({
      dry_run: true,
      found,
      deleted: NONE,
      failed: NONE,
      left_alone: { recent: NONE, unknown },
    });
    expect(await files()).to.deep.equal(withOrphans);

    const { code, stdout } = await sandbox.command(["audio", "collect"], dataDir);
    expect(code).to.equal(0);
    expect(stdout).to.include("Found 2 files (20 bytes) under 1 prefix left behind.");
    expect(stdout).to.include("Deleted 2 files (20 bytes) under 1 prefix.");
    expect(stdout).to.include("Left alone 1 file (10 bytes) under 1 prefix of no job that this installation knows.");
    expect(await files()).to.deep.equal(withOrphans.filter((file) => !file.includes(`${jobId}/7/`)));

    const again = await json<Collected>("audio", "collect");
    expect(again).to.deep.include({ dry_run: false, found: NONE, deleted: NONE });
  });
});
