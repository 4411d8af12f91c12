import { execFile } from "node:child_process";
import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { expect } from "chai";
import type { CheckResult } from "../../../core/ports/self-check.js";
import { dataOf, refusalOf } from "../../support/api-client.js";
import { eventually, useSandbox } from "../../support/process.js";
import { CREDIT_COST, HTTP_MODEL, httpModelPlugin } from "../../support/vendor/index.js";
import type { CountedJob } from "../../support/waste.js";
import type { Installation } from "./installation.js";
import { inInstallation } from "./scenario.js";

const execute = promisify(execFile);
const PAUSED = { FERMATA_JOBS__SUBMISSIONS: "paused" };

/** How a database is copied and put back, as config/README.md says. */
interface Copies {
  backUp(installation: Installation, to: string): Promise<void>;
  restore(installation: Installation, from: string): Promise<void>;
}

const ofSqlite: Copies = {
  async backUp({ dataDir }, to) {
    const database = new Database(join(dataDir, "fermata.sqlite"), { readonly: true });
    await database.backup(to);
    database.close();
  },
  async restore({ dataDir }, from) {
    for (const end of ["", "-wal", "-shm"]) await rm(join(dataDir, `fermata.sqlite${end}`), { force: true });
    await cp(from, join(dataDir, "fermata.sqlite"));
  },
};

const ofMysql: Copies = {
  async backUp({ databaseUrl }, to) {
    const { args, name } = clientOf(databaseUrl);
    const dump = ["--single-transaction", "--add-drop-table", ...args, name];
    const { stdout } = await execute("mysqldump", dump, { maxBuffer: 64 * 1_024 * 1_024 });
    await writeFile(to, stdout);
  },
  async restore({ databaseUrl }, from) {
    const { args, name } = clientOf(databaseUrl);
    await execute("mysql", [...args, name, "-e", `source ${from}`]);
  },
};

function clientOf(url: string): { readonly args: readonly string[]; readonly name: string } {
  const { hostname, port, username, pathname } = new URL(url);
  const args = ["-h", hostname, "-P", port === "" ? "3306" : port, "-u", username];
  return { args, name: pathname.slice(1) };
}

describe("A backup that is older than what was bought since", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();

  for (const [storage, copies] of [
    ["sqlite", ofSqlite],
    ["mysql", ofMysql],
  ] as const)
    it(`is restored on ${storage} with submissions paused: nothing is bought twice, and what is lost is named`, () =>
      inInstallation(
        sandbox,
        {
          renders: { slots: 8, renderMs: 20 },
          plugins: (url) => ({ "http-model": httpModelPlugin(url, { shape: "accepts", concurrency: 1 }) }),
          storage,
        },
        async (installation) => {
          const { vendor, dataDir, settings } = installation;
          const json = <T>(...args: readonly string[]): Promise<T> => sandbox.json<T>(args, dataDir, settings);
          const one = async (prompt: string): Promise<CountedJob> =>
            (await installation.request(HTTP_MODEL, [prompt]))[0] as CountedJob;
          const statusOf = async ({ id }: CountedJob): Promise<string> =>
            dataOf<{ status: string }>(await installation.api.get(`/api/v1/generations/${id}`)).status;
          const isCompleted = (job: CountedJob) => async (): Promise<boolean> => (await statusOf(job)) === "completed";
          const ofJob = ({ id }: CountedJob): number => vendor.purchases.filter(({ jobId }) => jobId === id).length;

          const before = await installation.serve("start");
          const ended = await one("ended before the backup");
          await eventually("its end", isCompleted(ended));
          vendor.hold();
          const accepted = await one("accepted before the backup");
          await vendor.bought(2);
          await eventually("its handle is stored", () => vendor.purchases.some(({ calls }) => calls.poll > 0));
          await before.stop();
          const accepting = await installation.serve("serve");
          const queued = await one("queued at the backup");

          const copy = await sandbox.dataDir();
          await copies.backUp(installation, join(copy, "database"));
          await cp(join(dataDir, "audio"), join(copy, "audio"), { recursive: true });

          await accepting.stop();
          const buying = await installation.serve("start");
          vendor.release();
          const lost = await one("accepted after the backup");
          for (const job of [accepted, queued, lost]) await eventually("the end of all", isCompleted(job));
          expect(vendor.purchases).to.have.length(4);

          await buying.kill();
          await rm(join(dataDir, "audio"), { recursive: true });
          await copies.restore(installation, join(copy, "database"));
          await cp(join(copy, "audio"), join(dataDir, "audio"), { recursive: true });
          await installation.serve("start", PAUSED);

          // What is reported: the pause, a ledger that is whole, and which jobs are open.
          const { checks } = (await sandbox.command(["doctor", "--json"], dataDir, { ...settings, ...PAUSED })).json<{
            checks: readonly CheckResult[];
          }>();
          expect(checks.find(({ name }) => name === "submissions")).to.include({ result: "warning" });
          await installation.checkLedger();
          const { jobs } = await json<{ jobs: readonly { id: string }[] }>("jobs", "list", "--status", "queued");
          expect(jobs.map(({ id }) => id)).to.deep.equal([queued.id]);
          expect(refusalOf(await installation.api.get(`/api/v1/generations/${lost.id}`))).to.match(/^404 /);

          // What is repaired: the provider's render of an accepted job is fetched, and not bought again.
          await eventually("the accepted job's end", isCompleted(accepted));
          const later = await one("accepted while paused");
          expect([await statusOf(queued), await statusOf(later)]).to.deep.equal(["queued", "queued"]);
          expect(vendor.purchases).to.have.length(4);

          // The provider's console shows that the queued one was bought since: the operator ends it.
          await json("jobs", "cancel", queued.id, "--force");
          expect(await statusOf(queued)).to.equal("failed");
          await json("jobs", "resume");
          await eventually("what was accepted while paused ends", isCompleted(later));
          expect([accepted, queued, later].map(ofJob)).to.deep.equal([1, 1, 1]);
          expect(await installation.spent()).to.equal(3 * CREDIT_COST);
          await installation.checkLedger();
        },
      ));
});
