import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { ApiClient, type ApiResponse, dataOf, refusalOf } from "../../support/api-client.js";
import { CHAOS_SETTINGS } from "../../support/chaos/chaos.js";
import { createMigratedMysqlDatabase } from "../../support/mysql.js";
import { query } from "../../support/mysql-server.js";
import { type Environment, type FermataProcess, useSandbox } from "../../support/process.js";
import { openRelayTo, type Relay } from "../../support/relay.js";

/** More than there are lanes: some share the lane of the account whose rows are held. */
const OTHERS = 12;
const ROUNDS = 3;
/** Sent as a group begins: what it writes travels later, together with its commit. */
const LOCKS_BALANCES = /FROM fermata_balances .*FOR UPDATE/s;
const BODY = { model_id: "synth/song", prompt: "tides" };
const COST = 15;

interface Caller {
  readonly id: string;
  readonly key: string;
}

describe("A server that is stopped in the middle of a group commit on MySQL", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();

  let database: Awaited<ReturnType<typeof createMigratedMysqlDatabase>>;
  let relay: Relay;
  let dataDir: string;
  let settings: Environment;
  /** The process that the relay stops at the next such statement. */
  let stops: { readonly server: FermataProcess; happened(): void } | null;

  beforeEach(async () => {
    [database, dataDir] = await Promise.all([createMigratedMysqlDatabase(), sandbox.dataDir()]);
    stops = null;
    const { hostname, port } = new URL(database.url);
    const fateOf = (bytes: Buffer): "pass" => {
      if (stops !== null && LOCKS_BALANCES.test(bytes.toString("latin1"))) {
        const { server, happened } = stops;
        stops = null;
        server.signal("SIGSTOP");
        // The statement goes on once the process has stopped: it holds the rows, and can send nothing more.
        while (!isStopped(server)) continue;
        happened();
      }
      return "pass";
    };
    relay = await openRelayTo({ host: hostname, port: Number(port) }, { fateOf });
    settings = {
      ...CHAOS_SETTINGS,
      FERMATA_HTTP__PUBLIC_URL: "http://fermata.test",
      FERMATA_STORAGE__URL: database.url,
    };
  });

  afterEach(async () => {
    await sandbox.clear();
    await relay.close();
    await database.drop();
  });

  async function aCaller(): Promise<Caller> {
    const account = ["accounts", "create", "caller", "--tier", "pro", "--accept-terms", "--credits", "100"];
    const { id } = await sandbox.json<{ id: string }>(account, dataDir, settings);
    const { key } = await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir, settings);
    return { id, key };
  }

  async function aServer(env: Environment = {}): Promise<{ readonly server: FermataProcess; readonly url: string }> {
    const server = sandbox.spawn(["serve"], dataDir, { ...settings, ...env });
    return { server, url: await server.listening() };
  }

  const generate = (url: string, { key }: Caller, idempotencyKey = randomUUID()): Promise<ApiResponse> =>
    new ApiClient(url, key).generate(BODY, { "Idempotency-Key": idempotencyKey });

  it("keeps no other account waiting at another server, loses nothing, and reserves once", async () => {
    const held = await aCaller();
    const others: Caller[] = [];
    for (let index = 0; index < OTHERS; index++) others.push(await aCaller());
    const throughRelay = database.url.replace(new URL(database.url).host, relay.address);
    const [stopped, running] = await Promise.all([aServer({ FERMATA_STORAGE__URL: throughRelay }), aServer()]);

    const isStoppedThere = new Promise<void>((happened) => {
      stops = { server: stopped.server, happened };
    });
    const idempotencyKey = randomUUID();
    const waiting = generate(stopped.url, held, idempotencyKey);
    await isStoppedThere;

    // All of this ends before the stopped server is resumed: nothing else lets go of its rows.
    for (let round = 0; round < ROUNDS; round++) {
      const [refused, ...accepted] = await Promise.all(
        [held, ...others].map((caller) => generate(running.url, caller)),
      );
      expect(accepted.map(({ status }) => status)).to.deep.equal(Array(OTHERS).fill(202));
      expect(refusalOf(refused as ApiResponse)).to.equal("503 service_unavailable");
      expect(Number(refused?.headers.get("retry-after"))).to.be.within(1, 5);
    }
    expect(isStopped(stopped.server)).to.equal(true);

    stopped.server.signal("SIGCONT");
    const first = await waiting;
    // Whatever it has responded: asked again, at either server, there is this one job.
    const again = await generate(running.url, held, idempotencyKey);
    expect(again.status).to.equal(202);
    if (first.status === 202) expect(dataOf(again)["id"]).to.equal(dataOf(first)["id"]);
    else expect(refusalOf(first)).to.equal("503 service_unavailable");
    const repeated = await generate(stopped.url, held, idempotencyKey);
    expect(dataOf(repeated)["id"]).to.equal(dataOf(again)["id"]);

    for (const [caller, jobs] of [[held, 1], ...others.map((other) => [other, ROUNDS] as const)] as const) {
      const found = await query(database.url, "SELECT id FROM fermata_jobs WHERE account_id = ?", [caller.id]);
      expect(found).to.have.length(jobs);
      const credits = dataOf(await new ApiClient(running.url, caller.key).get("/api/v1/credits"));
      expect(credits).to.include({ available: 100 - jobs * COST });
    }
    expect(await sandbox.json(["ledger", "verify"], dataDir, settings)).to.include({ ok: true });
  });
});

/** Whether all of it has stopped, by what Linux says. */
function isStopped({ pid }: FermataProcess): boolean {
  return / T /.test(readFileSync(`/proc/${String(pid)}/stat`, "utf8").replace(/^.*\)/, ""));
}
