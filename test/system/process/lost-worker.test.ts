import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { eventually, filesUnder, useSandbox } from "../../support/process.js";
import { readRows } from "../../support/chaos/rows.js";

describe("A process that dies while it renders", function () {
  this.timeout(90_000);
  const sandbox = useSandbox();

  it("loses its job to the next process, which finishes it once and leaves no orphaned file", async () => {
    const dataDir = await sandbox.dataDir();
    const env = { FERMATA_JOBS__LEASE_SECONDS: "1", FERMATA_JOBS__SWEEP_MS: "100" };
    const first = sandbox.spawn(["start"], dataDir, env);
    const firstUrl = await first.listening();
    const key = await first.demoKey();
    const body = { model_id: "synth/instrumental", prompt: "rain [[delay:1]]", duration: 5 };
    const { id } = dataOf<{ id: string }>(await new ApiClient(firstUrl, key).generate(body));
    const owner = await eventually("an intended attempt", () => {
      const [job] = readRows(dataDir).jobs;
      return job?.phase === "submitting" ? job.lease_owner : null;
    });
    await first.kill();
    const incoming = join(dataDir, "audio", ".incoming");
    await writeFile(join(incoming, "left-over"), "half a file");
    const twoHoursAgo = Date.now() / 1000 - 7_200;
    await utimes(join(incoming, "left-over"), twoHoursAgo, twoHoursAgo);

    const second = sandbox.spawn(["start"], dataDir, env);
    const api = new ApiClient(await second.listening(), key);
    expect(await readdir(incoming)).to.deep.equal([]);
    const nextOwner = await eventually("another owner", () => {
      const [job] = readRows(dataDir).jobs;
      return job?.lease_owner !== owner && job?.lease_owner;
    });
    expect(nextOwner).to.match(/^prc_/);
    await eventually("completed", async () => dataOf(await api.get(`/api/v1/jobs/${id}`)).status === "completed");
    expect(dataOf(await api.get("/api/v1/credits"))).to.include({ available: 990, total_spent: 10 });
    expect(await second.stop()).to.equal(0);

    const rows = readRows(dataDir);
    expect(rows.attempts.map(({ number, outcome }) => [number, outcome])).to.deep.equal([
      [1, null],
      [2, "completed"],
    ]);
    expect(rows.entries.filter((entry) => entry.job_id === id).map(({ kind }) => kind)).to.deep.equal([
      "reserve",
      "charge",
    ]);
    expect(await filesUnder(join(dataDir, "audio"))).to.deep.equal(audioKeys(dataDir));
    expect(await sandbox.json(["ledger", "verify"], dataDir)).to.include({ ok: true });
  });

  it("leaves no stored files when it dies before its job is settled", async () => {
    const dataDir = await sandbox.dataDir();
    const audio = join(dataDir, "audio");
    const env = { FERMATA_JOBS__LEASE_SECONDS: "1", FERMATA_JOBS__SWEEP_MS: "100" };
    const first = sandbox.spawn(["start"], dataDir, env);
    let url = await first.listening();
    const key = await first.demoKey();
    let [server, id] = [first, ""];
    for (;;) {
      const body = { model_id: "synth/instrumental", prompt: "rain", duration: 20 };
      id = dataOf<{ id: string }>(await new ApiClient(url, key).generate(body)).id;
      await eventually("a first file", async () => (await filesUnder(audio)).some((file) => file.startsWith(id)));
      await server.kill();
      // Sometimes the kill comes too late, and the next track is used.
      if (readRows(dataDir).jobs.find((job) => job.id === id)?.phase !== "ended") break;
      server = sandbox.spawn(["start"], dataDir, env);
      url = await server.listening();
    }

    const second = sandbox.spawn(["start"], dataDir, env);
    const api = new ApiClient(await second.listening(), key);
    await eventually("completed", async () => dataOf(await api.get(`/api/v1/jobs/${id}`)).status === "completed");
    expect(await second.stop()).to.equal(0);
    const named = audioKeys(dataDir);
    expect(named.filter((file) => file.startsWith(id))).to.not.be.empty;
    expect((await filesUnder(audio)).filter((file) => !file.startsWith(".incoming/"))).to.deep.equal(named);
  });
});

function audioKeys(dataDir: string): string[] {
  const database = new BetterSqlite3(join(dataDir, "fermata.sqlite"), { readonly: true });
  try {
    return database.prepare("SELECT audio_key FROM fermata_track_assets ORDER BY audio_key").pluck().all() as string[];
  } finally {
    database.close();
  }
}
