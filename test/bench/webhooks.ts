import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { AddressPolicy, DnsAddressGuard, GuardedConnector } from "../../adapters/network/index.js";
import { SystemClock } from "../../adapters/system/clock.js";
import { HttpsWebhookSender } from "../../adapters/webhooks/https/webhook-sender.js";
import type { WebhookMessage, WebhookSender } from "../../core/ports/webhook-sender.js";
import { CertificateAuthority } from "../support/fault-receiver/certificates.js";
import { mysqlStorage } from "../support/mysql.js";
import { addBacklog, deliveriesOf } from "./deliveries.js";
import { atLeast, type Bench, type Figure, median, perSecond } from "./figures.js";
import { startServer } from "./servers/start.js";

const CONNECTIONS = 16;
const ROUNDS = 5;
const ROUND_MS = 2_000;
const RATIO_MIN = 0.6;
const ENDPOINTS = 10;
const EVENTS = 500;
const TIMEOUT_MS = 15_000;

/** About the size of an event of two tracks. */
const DATA = { filler: "x".repeat(4_000) };
const BODY = JSON.stringify({ type: "generation.completed", timestamp: new Date(0).toISOString(), data: DATA });

export const webhooks: Bench = {
  name: "webhooks",
  compares: "signed deliveries over TLS to one receiver, alone and recorded, with a bare loop of the same HTTP client",
  async run() {
    const dataDir = await mkdtemp(join(tmpdir(), "fermata-bench-"));
    const authority = new CertificateAuthority();
    const { cert, key } = authority.issue({ names: ["localhost"] });
    await Promise.all([writeFile(join(dataDir, "cert.pem"), cert), writeFile(join(dataDir, "key.pem"), key)]);
    const receiver = await startServer("tls-receiver", dataDir);
    try {
      const { alone, recorded } = await comparisonsAt(receiver.url, authority.cert);
      return [
        figureOf(`${CONNECTIONS} at once`, alone),
        figureOf(`from a backlog of ${ENDPOINTS} endpoints, recorded in MySQL`, recorded),
      ];
    } finally {
      await receiver.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

/** Deliveries a second, a figure for each round. */
interface Rates {
  readonly ours: readonly number[];
  readonly bare: readonly number[];
}

function figureOf(name: string, { ours, bare }: Rates): Figure {
  const ratio = median(ours.map((rate, round) => rate / (bare[round] ?? Number.NaN)));
  return {
    name: `webhooks: deliveries, ${name}`,
    value: perSecond(median(ours)),
    baseline: `${perSecond(median(bare))} (bare undici)`,
    ratio,
    target: atLeast(ratio, RATIO_MIN, " ×"),
  };
}

async function comparisonsAt(url: string, ca: string): Promise<{ readonly alone: Rates; readonly recorded: Rates }> {
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
    const [alone, recorded, bare]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await rateOf(deliver));
      recorded.push(await rateOfRecorded(sender, url));
      bare.push(await rateOf(post));
    }
    return { alone: { ours: alone, bare }, recorded: { ours: recorded, bare } };
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

/** How many a second were delivered of a backlog, and recorded. */
async function rateOfRecorded(sender: WebhookSender, url: string): Promise<number> {
  const storage = await mysqlStorage.open();
  try {
    const urls = Array.from({ length: ENDPOINTS }, (_, index) => `${url}/hooks/${index}`);
    await addBacklog(storage, urls, () => Array.from({ length: EVENTS }, () => DATA));
    const count = ENDPOINTS * EVENTS;
    let left = count;
    let resolve: () => void = () => undefined;
    const allEnded = new Promise<void>((done) => (resolve = done));
    // Not by reading what is pending, which would take MySQL a fourth of all its time.
    const work = deliveriesOf(storage, sender, TIMEOUT_MS, () => (--left === 0 ? resolve() : undefined));
    const begunAt = performance.now();
    work.start();
    await allEnded;
    const seconds = (performance.now() - begunAt) / 1000;
    await work.stop(0);
    const pending = await storage.webhooks.countPending();
    if (pending > 0) throw new Error(`${pending} deliveries ended, and are pending.`);
    return count / seconds;
  } finally {
    await storage.close();
  }
}
