import { expect } from "chai";
import { createClient, type Schemas } from "../../adapters/client/index.js";
import { A_GENERATION, dataOf } from "../support/api-client.js";
import { submitCompletes } from "../support/doubles/scripted-provider.js";
import { openRelayTo } from "../support/relay.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const CREDITS = 1_000_000;
const COST = 10;
/** Calls at once. */
const TOGETHER = 50;
const POSITIONS = 10;
/** At each position, in the test of the creation. */
const BYTES = 16;

/** What a call did through a proxy: the id of its generation, the bytes that came back, and by how many connections. */
interface Called {
  readonly id: string;
  readonly bytes: number;
  readonly connections: number;
}

describe("The client, behind a proxy that cuts replies off", function () {
  this.timeout(180_000);
  let test: TestApp;

  afterEach(() => test.close());

  async function start(work: boolean): Promise<TestAccount> {
    test = await startTestApp({ work, settings: { tiers: { pro: { maxConcurrent: 100_000 } } } });
    test.provider.behaviour = submitCompletes;
    return test.account({ credits: CREDITS });
  }

  /** Calls through a proxy of its own, which ends its first `cuts` connections after `limit` bytes of replies. */
  async function through(
    { key }: TestAccount,
    limit: number,
    cuts: number,
    call: (client: ReturnType<typeof createClient>) => Promise<{ readonly id: string }>,
  ): Promise<Called> {
    const { hostname, port } = new URL(test.url);
    const replyLimitOf = (connection: number): number => (connection <= cuts ? limit : Infinity);
    const relay = await openRelayTo({ host: hostname, port: Number(port) }, { replyLimitOf });
    try {
      const client = createClient({ baseUrl: `http://${relay.address}`, apiKey: key, pollMs: 5 });
      const { id } = await call(client);
      return { id, bytes: relay.repliedBytes, connections: relay.connections };
    } finally {
      await relay.close();
    }
  }

  const create = (client: ReturnType<typeof createClient>, index = 0) =>
    client.POST("/api/v1/generations", {
      params: { header: { "Idempotency-Key": `call-${index}` } },
      body: A_GENERATION,
    });

  async function creditsOf({ api }: TestAccount): Promise<Schemas["Credits"]> {
    return dataOf<Schemas["Credits"]>(await api.get("/api/v1/credits"));
  }

  it("creates one generation and reserves its credits once, cut off at every byte of ten positions", async () => {
    const caller = await start(false);
    const { bytes } = await through(caller, Infinity, 0, (client) => create(client));
    expect(bytes).to.be.greaterThan(500);
    // From the status line to the last byte of the body.
    const starts = Array.from({ length: POSITIONS }, (_, at) => Math.floor((at * (bytes - BYTES)) / (POSITIONS - 1)));
    const limits = starts.flatMap((start) => Array.from({ length: BYTES }, (_, offset) => start + offset));
    const ids = new Set<string>();
    for (let from = 0; from < limits.length; from += TOGETHER) {
      const called = limits.slice(from, from + TOGETHER).map(async (limit) => {
        const { id, connections } = await through(caller, limit, 1, (client) => create(client, limit + 1));
        expect(connections, `cut off after ${limit} bytes`).to.equal(2);
        ids.add(id);
      });
      await Promise.all(called);
    }
    expect(ids.size).to.equal(POSITIONS * BYTES);
    expect((await creditsOf(caller)).available).to.equal(CREDITS - COST * (ids.size + 1));
  });

  it("returns the finished generation and charges it once, cut off twice at ten positions on the way", async () => {
    const caller = await start(true);
    const whole = await through(caller, Infinity, 0, (client) => client.generate(A_GENERATION));
    const limits = Array.from({ length: POSITIONS }, (_, index) => Math.floor((index * whole.bytes) / POSITIONS));
    const called = await Promise.all(
      limits.map((limit) => through(caller, limit, 2, (client) => client.generate(A_GENERATION))),
    );
    expect(new Set(called.map(({ id }) => id)).size).to.equal(POSITIONS);
    expect(called[0]?.connections).to.be.greaterThan(2);
    expect(await creditsOf(caller)).to.include({
      total_spent: COST * (POSITIONS + 1),
      available: CREDITS - COST * (POSITIONS + 1),
    });
  });
});
