import { comparison, ratioOf } from "./comparison.js";
import { atLeast, type Bench, type Figure, perSecond } from "./figures.js";
import { makeInstallation } from "./installation.js";
import { rawRequest } from "./load.js";
import { startServer } from "./servers/start.js";

const CONNECTIONS = 64;
const ACCOUNTS = 50;

export const read: Bench = {
  name: "read",
  compares: "GET /api/v1/credits with the same read in bare Express",
  async run() {
    const installation = await makeInstallation(ACCOUNTS);
    const servers = [
      await startServer("fermata", await installation.copy()),
      await startServer("bare-knex", await installation.copy()),
      await startServer("bare-prepared", await installation.copy()),
    ];
    const requests = installation.holders.map(({ key }) =>
      rawRequest("GET", "/api/v1/credits", { Authorization: `Bearer ${key}` }),
    );
    let next = 0;
    const request = (): string => requests[next++ % requests.length] as string;
    try {
      const [ours, knex, prepared] = await comparison(servers, {
        connections: CONNECTIONS,
        rounds: 7,
        seconds: 1.5,
        request,
        status: 200,
      });
      if (ours === undefined || knex === undefined || prepared === undefined) return [];
      const figures: Figure[] = [
        {
          name: "read: requests, against knex",
          value: perSecond(ours.perSecond),
          baseline: perSecond(knex.perSecond),
          ratio: ratioOf(ours, knex),
          target: atLeast(ratioOf(ours, knex), 0.5),
        },
        {
          name: "read: requests, against prepared SQL",
          value: perSecond(ours.perSecond),
          baseline: perSecond(prepared.perSecond),
          ratio: ratioOf(ours, prepared),
          target: null,
        },
        {
          name: "read: CPU per request, against knex",
          value: `${ours.cpuMicros.toFixed(0)} µs`,
          baseline: `${knex.cpuMicros.toFixed(0)} µs`,
          ratio: knex.cpuMicros / ours.cpuMicros,
          target: null,
        },
      ];
      return figures;
    } finally {
      for (const server of servers) await server.stop();
      await installation.remove();
    }
  },
};
