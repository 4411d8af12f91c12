import { WEBHOOK_DELIVERIES, WEBHOOK_ENDPOINTS } from "../../adapters/storage/sql/webhooks/webhook-tables.js";
import type { WebhookEndpointId } from "../../core/ids.js";
import { NOON } from "../support/builders.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { aDelivery, anEndpoint } from "../support/webhook-builders.js";
import { openWriter } from "./bulk-writer.js";
import { below, type Bench, type Figure, milliseconds, percentile } from "./figures.js";

const ENDPOINTS = Number(process.env["DUE_ENDPOINTS"] ?? 10_000);
/** Pending deliveries of each. */
const BACKLOGS = [1, 20] as const;
const LOOK_MAX_MS = 20;

type Open = StorageUnderTest & { readonly url: string };

/** What a sender reads before it claims, while deliveries of very many endpoints are due. */
export const due: Bench = {
  name: "due",
  compares: `looks for due deliveries of ${ENDPOINTS.toLocaleString("en")} webhook endpoints with the first of them`,
  async run() {
    const figures: Figure[] = [];
    for (const { name, open } of [sqliteStorage, mysqlStorage])
      for (const backlog of BACKLOGS)
        figures.push(await measure(`${name}, ${backlog} due of each`, await open(), backlog));
    return figures;
  },
};

async function measure(name: string, storage: Open, backlog: number): Promise<Figure> {
  try {
    await fill(storage.url, backlog);
    const taken: number[] = [];
    for (let after: WebhookEndpointId | null = null; ;) {
      const begunAt = performance.now();
      const { ids, next } = await storage.webhooks.endpointsWithDue(NOON, after);
      await storage.webhooks.findEndpoints(ids);
      taken.push(performance.now() - begunAt);
      if (next === null) break;
      after = next;
    }
    const p95 = percentile(taken, 0.95);
    return {
      name: `due: a look, p95 of ${taken.length}, ${name}`,
      value: milliseconds(p95),
      baseline: milliseconds(taken[0] ?? 0),
      ratio: p95 / (taken[0] ?? 1),
      target: below(p95, LOOK_MAX_MS, " ms"),
    };
  } finally {
    await storage.close();
  }
}

async function fill(url: string, backlog: number): Promise<void> {
  const writer = await openWriter(url);
  const endpoints = Array.from({ length: ENDPOINTS }, () => anEndpoint());
  await writer.write(
    WEBHOOK_ENDPOINTS,
    endpoints.map((endpoint) => WEBHOOK_ENDPOINTS.toRow(endpoint)),
  );
  for (let round = 0; round < backlog; round++)
    await writer.write(
      WEBHOOK_DELIVERIES,
      endpoints.map(({ id }) => WEBHOOK_DELIVERIES.toRow(aDelivery({ endpointId: id, dueAt: NOON - round }))),
    );
  await writer.close();
}
