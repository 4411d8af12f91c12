import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { createMysqlDatabase, type MysqlDatabase } from "../../support/mysql.js";
import { query } from "../../support/mysql-server.js";
import { CHAOS_SETTINGS } from "../../support/chaos/chaos.js";
import { type Environment, eventually, FermataProcess, useSandbox } from "../../support/process.js";
import { openQueueSpace, type QueueSpace } from "../../support/rabbitmq.js";
import { unpackReleaseBefore } from "../../support/release-before.js";

const REQUEST = { model_id: "synth/instrumental", prompt: "slow sad piano", duration: 5, options: { seed: 42 } };

/** Of the rounds of a caller: most of the others are reads, so that workers have little to do. */
const CREATED_EVERY = 10;

interface Generation {
  readonly status: string;
}

/** A caller that sends one request after the other, and keeps every answer that is not as it should be. */
class Caller {
  readonly ids: string[] = [];
  readonly wrong: string[] = [];
  requests = 0;
  private stopped = false;
  private readonly running: Promise<void>;

  constructor(addresses: readonly string[], key: string, label: string) {
    this.running = this.run(
      addresses.map((address) => new ApiClient(address, key)),
      label,
    );
  }

  private async run(apis: readonly ApiClient[], label: string): Promise<void> {
    for (let turn = 0; !this.stopped; turn++) {
      const api = apis[turn % apis.length] as ApiClient;
      if (Math.floor(turn / apis.length) % CREATED_EVERY === 0) {
        const created = await api.generate(REQUEST, { "Idempotency-Key": `${label}-${turn}` });
        this.note(created.status === 202, `create: ${created.status} ${created.text}`);
        if (created.status === 202) this.ids.push(dataOf<{ id: string }>(created).id);
      }
      for (const path of [`generations/${this.ids.at(-1)}`, "credits", "generations?limit=5", "logs?limit=5"]) {
        const { status, text } = await api.get(`/api/v1/${path}`);
        this.note(status === 200, `${path}: ${status} ${text}`);
      }
    }
  }

  private note(isRight: boolean, what: string): void {
    this.requests++;
    if (!isRight) this.wrong.push(what);
  }

  /** Resolves when it has sent `more` requests. */
  async goOn(more = 50): Promise<void> {
    const target = this.requests + more;
    await eventually(`${more} requests of a caller`, () => this.requests >= target, 60_000);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }
}

describe("An upgrade while the release before serves", function () {
  this.timeout(180_000);
  const sandbox = useSandbox();
  let database: MysqlDatabase;
  let queues: QueueSpace;
  let settings: Environment;
  let dataDir: string;
  let program: string;
  const before: FermataProcess[] = [];

  beforeEach(async () => {
    [database, queues, dataDir] = await Promise.all([createMysqlDatabase(), openQueueSpace(), sandbox.dataDir()]);
    program = await unpackReleaseBefore(await sandbox.dataDir());
    settings = {
      ...CHAOS_SETTINGS,
      FERMATA_JOBS__LEASE_SECONDS: "30",
      FERMATA_DATA_DIR: dataDir,
      FERMATA_STORAGE__URL: database.url,
      FERMATA_QUEUE__URL: queues.url,
      FERMATA_HTTP__PORT: "0",
      FERMATA_HTTP__PUBLIC_URL: "http://fermata.test",
    };
  });
  afterEach(async () => {
    await Promise.all(before.splice(0).map((started) => started.kill()));
    await sandbox.clear();
    await Promise.all([database.drop(), queues.clear("synth")]);
  });

  function ofReleaseBefore(...args: string[]): FermataProcess {
    const started = new FermataProcess(args, settings, dataDir, program);
    before.push(started);
    return started;
  }

  async function json<T>(...args: string[]): Promise<T> {
    const started = ofReleaseBefore(...args, "--json");
    const { code } = await started.exited;
    expect(code, started.stderr).to.equal(0);
    return JSON.parse(started.stdout) as T;
  }

  const migrations = (): Promise<{ name: string }[]> =>
    query<{ name: string }>(database.url, "SELECT name FROM fermata_migrations ORDER BY id");

  it("refuses no request, ends the jobs of both, and the release before starts on the new schema", async () => {
    await json("migrate");
    const asBefore = await migrations();
    const account = ["accounts", "create", "caller", "--tier", "pro", "--accept-terms", "--credits", "100000"];
    const { id } = await json<{ id: string }>(...account);
    const { key } = await json<{ key: string }>("keys", "issue", id);

    const [served, worked] = [ofReleaseBefore("serve"), ofReleaseBefore("work")];
    const old = await served.listening();
    const first = new Caller([old], key, "before");
    await first.goOn();
    const { applied } = await sandbox.json<{ applied: string[] }>(["migrate"], dataDir, settings);
    expect(await migrations()).to.have.lengthOf(asBefore.length + applied.length);
    await first.goOn();

    const serving = sandbox.spawn(["serve"], dataDir, settings);
    const address = await serving.listening();
    const both = new Caller([old, address], key, "both");
    await Promise.all([first.goOn(), both.goOn(100)]);
    // The worker of the new version joins, then that of the release before leaves.
    sandbox.spawn(["work"], dataDir, settings);
    await both.goOn(100);
    await Promise.all([first.stop(), both.stop()]);
    expect(await worked.stop()).to.equal(0);
    expect([...first.wrong, ...both.wrong]).to.deep.equal([]);

    const api = new ApiClient(address, key);
    for (const job of [...first.ids, ...both.ids]) {
      const ended = await eventually(`the end of ${job}`, async () => {
        const { status } = dataOf<Generation>(await api.get(`/api/v1/generations/${job}`));
        return status === "completed" || status === "failed" ? status : null;
      });
      expect(ended).to.equal("completed");
    }
    expect(await served.stop()).to.equal(0);

    // Each process writes its log within moments of an answer, and what either wrote is counted.
    const sent = first.requests + both.requests;
    const usage = await eventually(`${sent} requests in the report of the usage`, async () => {
      const { summary } = dataOf<{ summary: { requests: number } }>(await api.get("/api/v1/usage"));
      return summary.requests >= sent ? summary : null;
    });
    expect(usage).to.include({ failed_requests: 0 });

    const back = ofReleaseBefore("serve");
    expect((await fetch(`${await back.listening()}/readyz`)).status).to.equal(200);
    expect(await sandbox.json(["ledger", "verify"], dataDir, settings)).to.include({ ok: true });
  });
});
