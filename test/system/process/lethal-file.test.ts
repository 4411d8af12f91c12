import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { eventually, type FermataProcess, filesUnder, useSandbox } from "../../support/process.js";

const ENV = { FERMATA_JOBS__LEASE_SECONDS: "1", FERMATA_JOBS__SWEEP_MS: "100" };
const WARNING = /stored without derived files/;

interface Row {
  readonly collections_begun: number | null;
}

/** As the kernel does when a control group with `memory.oom.group` runs out of memory. */
describe("A server that is killed together with its decoder", function () {
  this.timeout(180_000);
  const sandbox = useSandbox();

  /** Waits until the server decodes a file, and kills every process of it. */
  async function killWhileItDecodes(server: FermataProcess): Promise<void> {
    const pid = server.pid as number;
    const decoders = await eventually("a decoder at work", () => {
      const found = decodersOf(pid);
      return found.length > 0 && found;
    });
    for (const each of [pid, ...decoders]) process.kill(each, "SIGKILL");
    await server.kill();
  }

  it("analyses the same file at most twice: the third start delivers the audio without a waveform", async () => {
    const dataDir = await sandbox.dataDir();
    const first = sandbox.spawn(["start"], dataDir, ENV);
    const url = await first.listening();
    const key = await first.demoKey();
    const body = { model_id: "synth/instrumental", prompt: "rain", duration: 60 };
    const { id } = dataOf<{ id: string }>(await new ApiClient(url, key).generate(body));
    await killWhileItDecodes(first);
    expect(begunOf(dataDir, id)).to.equal(1);

    const second = sandbox.spawn(["start"], dataDir, ENV);
    await second.listening();
    await killWhileItDecodes(second);
    expect(begunOf(dataDir, id)).to.equal(2);

    const third = sandbox.spawn(["start"], dataDir, ENV);
    const api = new ApiClient(await third.listening(), key);
    await eventually("a warning", () => WARNING.test(third.stdout + third.stderr));
    await eventually("completed", async () => dataOf(await api.get(`/api/v1/jobs/${id}`)).status === "completed");
    const shown = dataOf<{ tracks: readonly { play_url: string }[] }>(await api.get(`/api/v1/generations/${id}`));
    expect((await fetch(shown.tracks[0]?.play_url ?? "")).status).to.equal(200);
    expect(dataOf(await api.get("/api/v1/credits"))).to.include({ total_spent: 10 });
    expect(waveformsIn(dataDir)).to.deep.equal([null]);

    // The next job's file is analysed as usual.
    const next = dataOf<{ id: string }>(await api.generate({ ...body, duration: 5 })).id;
    await eventually("completed", async () => dataOf(await api.get(`/api/v1/jobs/${next}`)).status === "completed");
    expect(waveformsIn(dataDir).filter((waveform) => waveform === null)).to.have.length(1);
    expect(await third.stop()).to.equal(0);
    expect((await filesUnder(join(dataDir, "audio"))).filter((file) => file.startsWith(id))).to.not.be.empty;
  });
});

/** Child processes of a server that decode. */
function decodersOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const isChild = new RegExp(`^PPid:\\t${parent}$`, "m").test(readFileSync(`/proc/${pid}/status`, "latin1"));
        return isChild && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("decoder-process");
      } catch {
        return false; // It has ended meanwhile.
      }
    })
    .map(Number);
}

function inDatabase<T>(dataDir: string, read: (database: BetterSqlite3.Database) => T): T {
  const database = new BetterSqlite3(join(dataDir, "fermata.sqlite"), { readonly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

function begunOf(dataDir: string, id: string): number | null {
  const select = "SELECT collections_begun FROM fermata_jobs WHERE id = ?";
  return inDatabase(dataDir, (database) => database.prepare<[string], Row>(select).get(id)?.collections_begun ?? null);
}

function waveformsIn(dataDir: string): unknown[] {
  return inDatabase(dataDir, (database) => database.prepare("SELECT waveform FROM fermata_tracks").pluck().all());
}
