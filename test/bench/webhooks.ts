import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { AddressPolicy, DnsAddressGuard, GuardedConnector } from "../../adapters/network/index.js";
import { SystemClock } from "../../adapters/system/clock.js";
import { HttpsWebhookSender } from "../../adapters/webhooks/https/webhook-sender.js";
import type { WebhookMessage } from "../../core/ports/webhook-sender.js";
import { CertificateAuthority } from "../support/fault-receiver/certificates.js";
import { atLeast, type Bench, median, perSecond } from "./figures.js";
import { startServer } from "./servers/start.js";

const CONNECTIONS = 16;
const ROUNDS = 5;
const ROUND_MS = 2_000;
const RATIO_MIN = 0.5;

/** About the size of an event of two tracks. */
const BODY = JSON.stringify({
  type: "generation.completed",
  timestamp: new Date(0).toISOString(),
  data: { filler: "x".repeat(4_000) },
});

export const webhooks: Bench = {
  name: "webhooks",
  compares: "signed deliveries over TLS to one receiver with a bare loop of the same HTTP client",
  async run() {
    const dataDir = await mkdtemp(join(tmpdir(), "fermata-bench-"));
    const authority = new CertificateAuthority();
    const { cert, key } = authority.issue({ names: ["localhost"] });
    await Promise.all([writeFile(join(dataDir, "cert.pem"), cert), writeFile(join(dataDir, "key.pem"), key)]);
    const receiver = await startServer("tls-receiver", dataDir);
    try {
      const { ours, bare, ratio } = await comparisonAt(receiver.url, authority.cert);
      return [
        {
          name: `webhooks: deliveries, ${CONNECTIONS} at once`,
          value: perSecond(ours),
          baseline: `${perSecond(bare)} (bare undici)`,
          ratio,
          target: atLeast(ratio, RATIO_MIN, " ×"),
        },
      ];
    } finally {
      await receiver.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

async function comparisonAt(
  url: string,
  ca: string,
): Promise<{ readonly ours: number; readonly bare: number; readonly ratio: number }> {
  const guard = new DnsAddressGuard(new AddressPolicy({ allowNetworks: ["127.0.0.0/8"] }));
  const sender = new HttpsWebhookSender({
    connector: new GuardedConnector({ guard, ca: [ca] }),
    clock: new SystemClock(),
    version: "bench",
  });
  const pool = new Pool(url, { connections: CONNECTIONS, connect: { ca } });
  const never = new AbortController().signal;
  const deliver = async (): Promise<void> => {
    const message: WebhookMessage = {
      url: `${url}/hooks`,
      eventId: "evt_01jd0000000000000000000000",
      sentAt: Date.now(),
      body: BODY,
      secrets: [`whsec_${"A".repeat(43)}=`],
      trace: null,
    };
    const { failure } = await sender.send(message, never);
    if (failure !== null) throw new Error(`A delivery failed: ${failure}.`);
  };
  const post = async (): Promise<void> => {
    const { body } = await pool.request({
      method: "POST",
      path: "/hooks",
      headers: { "content-type": "application/json" },
      body: BODY,
    });
    await body.dump();
  };
  try {
    for (const work of [deliver, post]) await rateOf(work);
    const rounds: { readonly ours: number; readonly bare: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push({ ours: await rateOf(deliver), bare: await rateOf(post) });
    return {
      ours: median(rounds.map(({ ours }) => ours)),
      bare: median(rounds.map(({ bare }) => bare)),
      ratio: median(rounds.map(({ ours, bare }) => ours / bare)),
    };
  } finally {
    await sender.close();
    await pool.destroy();
  }
}

/** How often a second it was done, by as many loops as there are connections. */
async function rateOf(work: () => Promise<void>): Promise<number> {
  const begunAt = performance.now();
  let count = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() - begunAt < ROUND_MS) {
      await work();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, loop));
  return count / ((performance.now() - begunAt) / 1000);
}
