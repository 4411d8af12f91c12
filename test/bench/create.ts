import { comparison, ratioOf, type Standing } from "./comparison.js";
import { atLeast, type Bench, type Figure, milliseconds, perSecond } from "./figures.js";
import { type Holder, makeInstallation, MODEL } from "./installation.js";
import { rawRequest } from "./load.js";
import { type Server, startServer } from "./servers/start.js";

const CONNECTIONS = 64;
const ACCOUNTS = 200;
const BODY = JSON.stringify({
  model_id: MODEL,
  prompt: "rain on a tin roof, brushed drums and an upright bass",
  instrumental: false,
});

export const create: Bench = {
  name: "create",
  compares: "POST /api/v1/generations with one durable transaction per request, over many accounts and on one",
  async run() {
    const installation = await makeInstallation(ACCOUNTS);
    const servers = [
      await startServer("fermata", await installation.copy()),
      await startServer("bare-knex", await installation.copy()),
      await startServer("bare-prepared", await installation.copy()),
    ];
    try {
      const spread = await measure(servers, installation.holders);
      const hot = await measure(servers, installation.holders.slice(0, 1));
      return [...figuresOf(`${ACCOUNTS} accounts`, spread), ...figuresOf("one account", hot)];
    } finally {
      for (const server of servers) await server.stop();
      await installation.remove();
    }
  },
};

function measure(servers: readonly Server[], holders: readonly Holder[]): Promise<readonly Standing[]> {
  let next = 0;
  const request = (): string => {
    const holder = holders[next++ % holders.length] as Holder;
    return createRequest(holder.key, `bench-${process.pid}-${holders.length}-${next}`);
  };
  return comparison(servers, { connections: CONNECTIONS, rounds: 5, seconds: 2, request, status: 202 });
}

/** A request to create a generation under this idempotency key. */
export function createRequest(apiKey: string, idempotencyKey: string): string {
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    "Content-Type": "application/json",
    "Idempotency-Key": idempotencyKey,
  };
  return rawRequest("POST", "/api/v1/generations", headers, BODY);
}

function figuresOf(where: string, [ours, knex, prepared]: readonly Standing[]): Figure[] {
  if (ours === undefined || knex === undefined || prepared === undefined) return [];
  return [
    {
      name: `create: ${where}, against knex`,
      value: perSecond(ours.perSecond),
      baseline: perSecond(knex.perSecond),
      ratio: ratioOf(ours, knex),
      target: atLeast(ratioOf(ours, knex), 1.5),
    },
    {
      name: `create: ${where}, against prepared SQL`,
      value: perSecond(ours.perSecond),
      baseline: perSecond(prepared.perSecond),
      ratio: ratioOf(ours, prepared),
      target: null,
    },
    {
      name: `create: ${where}, p99`,
      value: milliseconds(ours.p99Ms),
      baseline: milliseconds(knex.p99Ms),
      ratio: knex.p99Ms / ours.p99Ms,
      target: null,
    },
  ];
}
