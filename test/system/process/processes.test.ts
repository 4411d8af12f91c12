import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { createMigratedMysqlDatabase } from "../../support/mysql.js";
import { query } from "../../support/mysql-server.js";
import { type Environment, eventually, type FermataProcess, useSandbox } from "../../support/process.js";
import { openQueueSpace, type QueueSpace } from "../../support/rabbitmq.js";

const PROCESSES = 2;

describe("http.processes", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();

  let database: Awaited<ReturnType<typeof createMigratedMysqlDatabase>>;
  let queues: QueueSpace;
  let dataDir: string;
  let settings: Environment;
  let key: string;

  before(async () => {
    [database, queues] = await Promise.all([createMigratedMysqlDatabase(), openQueueSpace()]);
  });
  beforeEach(async () => {
    dataDir = await sandbox.dataDir();
    settings = {
      FERMATA_STORAGE__URL: database.url,
      FERMATA_QUEUE__URL: queues.url,
      FERMATA_HTTP__PROCESSES: String(PROCESSES),
      FERMATA_LOGS__FORMAT: "json",
      FERMATA_SECRETS__KEY: Buffer.alloc(32, 7).toString("base64"),
    };
    const account = ["accounts", "create", "caller", "--tier", "pro", "--accept-terms", "--credits", "100"];
    const { id } = await sandbox.json<{ id: string }>(account, dataDir, settings);
    key = (await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir, settings)).key;
  });
  afterEach(() => sandbox.clear());
  after(async () => {
    await Promise.all([database.drop(), queues.clear()]);
  });

  /** Resolves when all its processes serve. */
  async function started(command: "start" | "serve"): Promise<{ readonly main: FermataProcess; readonly url: string }> {
    const main = sandbox.spawn([command], dataDir, settings);
    const url = await main.listening();
    await eventually("all of them serve", () => metricsOf(main).length === PROCESSES);
    return { main, url };
  }

  it("serves the API by as many processes at one port, of which one alone says where it is", async () => {
    const { main, url } = await started("serve");
    expect(main.stdout.match(/listening on/g)).to.have.lengthOf(1);
    const served = async (): Promise<number[]> => Promise.all(metricsOf(main).map(requestsOf));
    await eventually("each of them has responded", async () => {
      for (let sent = 0; sent < 2 * PROCESSES; sent++) expect(await me(url, key)).to.equal(200);
      return (await served()).every((count) => count > 0);
    });
    expect(await main.stop()).to.equal(0);
  });

  it("counts the requests of an account in all of them together", async () => {
    settings = { ...settings, FERMATA_RATE_LIMITS__READ__PER_MINUTE: "10" };
    const { main, url } = await started("serve");
    const statuses: number[] = [];
    for (let sent = 0; sent < 20; sent++) statuses.push(await me(url, key));
    expect(statuses.filter((status) => status === 200)).to.have.lengthOf(10);
    expect(statuses.filter((status) => status === 429)).to.have.lengthOf(10);
    expect(await main.stop()).to.equal(0);
  });

  it("starts one that was killed again, and goes on serving meanwhile", async () => {
    const { main, url } = await started("start");
    const before = await childrenOf(main);
    expect(before).to.have.lengthOf(PROCESSES);
    process.kill(before[1] as number, "SIGKILL");
    await eventually("another one has taken its place", async () => {
      const now = await childrenOf(main);
      return now.length === PROCESSES && !now.includes(before[1] as number);
    });
    await eventually("it serves", () => metricsOf(main).length === PROCESSES + 1);
    for (let sent = 0; sent < 5 * PROCESSES; sent++) expect(await me(url, key)).to.equal(200);
    expect(main.stderr).to.include("A process ended and is started again");
    expect(await main.stop()).to.equal(0);
  });

  it("works on jobs in one of them", async () => {
    const { main, url } = await started("start");
    const api = new ApiClient(url, key);
    const body = { model_id: "synth/instrumental", prompt: "rain", duration: 10 };
    const created = await api.generate(body);
    expect(created.status).to.equal(202);
    const { id } = dataOf<{ id: string }>(created);
    await eventually("it has completed", async () => {
      const { status } = dataOf<{ status: string }>(await api.get(`/api/v1/generations/${id}`));
      return status === "completed";
    });
    expect(await main.stop()).to.equal(0);
  });

  it("loses no response and no row of the log when it stops", async () => {
    const { main, url } = await started("serve");
    let received = 0;
    let isOver = false;
    const callers = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const status = await me(url, key).catch(() => 0);
        if (status === 200) received += 1;
        else isOver = true;
      }
    });
    await eventually("requests are served", () => received > 50);
    expect(await main.stop()).to.equal(0);
    await Promise.all(callers);
    const [row] = await query<{ total: number }>(
      database.url,
      "SELECT COUNT(*) AS total FROM fermata_request_log l JOIN fermata_api_keys k ON k.account_id = l.account_id " +
        "WHERE k.shown_prefix = ? AND l.status = 200",
      [key.slice(0, 12)],
    );
    expect(row?.total).to.equal(received);
  });

  it("is refused with what several processes cannot share", async () => {
    const { code, stderr } = await sandbox.command(["serve"], dataDir, {
      FERMATA_HTTP__PROCESSES: "2",
      FERMATA_RATE_LIMITS__STORE: "memory",
      FERMATA_METRICS__PORT: "",
    });
    expect(code).to.equal(2);
    for (const line of [
      "storage.url: http.processes above 1 needs a database server, such as mysql:",
      "queue.url: http.processes above 1 needs a broker, such as amqp:",
      "rateLimits.store: http.processes above 1 needs shared",
      "metrics.port: http.processes above 1 needs a port, as each process has figures of its own",
    ])
      expect(stderr).to.include(line);
  });

  it("ends with the first process when that one cannot start", async () => {
    const { main, url } = await started("serve");
    const taken = sandbox.spawn(["serve"], dataDir, { ...settings, FERMATA_HTTP__PORT: new URL(url).port });
    expect((await taken.exited).code).to.equal(1);
    expect(taken.stderr).to.include("the port is in use");
    expect(await main.stop()).to.equal(0);
  });
});

async function me(url: string, key: string): Promise<number> {
  // A connection of its own each time: the processes take connections in turn.
  const headers = { Authorization: `Bearer ${key}`, Connection: "close" };
  const response = await fetch(`${url}/api/v1/me`, { headers });
  await response.arrayBuffer();
  return response.status;
}

/** Where each of its processes shows its figures. */
function metricsOf(main: FermataProcess): string[] {
  const lines = main.stderr.split("\n").filter((text) => text.includes("Metrics are served"));
  return lines.map((line) => (JSON.parse(line) as { readonly url: string }).url);
}

async function requestsOf(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const counts = [...text.matchAll(/^fermata_http_request_seconds_count\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function childrenOf({ pid }: FermataProcess): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(" ").map(Number);
}
