import { comparison } from "./comparison.js";
import type { Bench } from "./figures.js";
import { makeInstallation } from "./installation.js";
import { rawRequest } from "./load.js";
import { startServer } from "./servers/start.js";

const ACCOUNTS = 50;
const SHARE_MAX = 1.1;

/** What counting and logging a request costs, of all that a cheap request costs. */
export const requestCost: Bench = {
  name: "request-cost",
  compares: "GET /api/v1/credits with the same server without rate limits and request log",
  async run() {
    const installation = await makeInstallation(ACCOUNTS);
    const servers = [
      await startServer("fermata", await installation.copy()),
      await startServer("fermata-uncounted", await installation.copy()),
    ];
    const requests = installation.holders.map(({ key }) =>
      rawRequest("GET", "/api/v1/credits", { Authorization: `Bearer ${key}` }),
    );
    let next = 0;
    const request = (): string => requests[next++ % requests.length] as string;
    try {
      const [all, bare] = await comparison(servers, { connections: 64, rounds: 9, seconds: 2, request, status: 200 });
      if (all === undefined || bare === undefined) return [];
      const ratio = all.cpuMicros / bare.cpuMicros;
      return [
        {
          name: "request-cost: CPU per request",
          value: `${all.cpuMicros.toFixed(0)} µs`,
          baseline: `${bare.cpuMicros.toFixed(0)} µs`,
          ratio,
          target: { text: `<= ${SHARE_MAX} ×`, met: ratio <= SHARE_MAX },
        },
      ];
    } finally {
      for (const server of servers) await server.stop();
      await installation.remove();
    }
  },
};
