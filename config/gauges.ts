import type { StorageClock } from "../adapters/system/storage-clock.js";
import type { GaugeSample, Metrics } from "../core/ports/metrics.js";
import type { OpenedStorage, PoolFigures } from "../core/ports/opened-storage.js";
import { packageVersion } from "./version.js";

/** What only the process around the core can show. */
export interface ProcessFigures {
  /** null: the storage has no clock of its own. */
  readonly storageClock: Pick<StorageClock, "offsetMs"> | null;
  readonly storage: Pick<OpenedStorage, "pools">;
  /** Each part that the process needs, and whether it works. */
  parts(): Promise<ReadonlyMap<string, boolean>>;
}

/** Shows in the metrics the process, its connections, and what it needs. */
export function showProcess(metrics: Pick<Metrics, "gauge">, { storageClock, storage, parts }: ProcessFigures): void {
  metrics.gauge({ name: "info", help: "1, with the version of Fermata as a label", labels: ["version"] }, () => [
    { labels: { version: packageVersion() }, value: 1 },
  ]);
  const up = "Whether a part that the process needs works: 1 when it does, else 0";
  metrics.gauge({ name: "dependency_up", help: up, labels: ["dependency"] }, async () =>
    [...(await parts())].map(([part, works]) => ({ labels: { dependency: part }, value: works ? 1 : 0 })),
  );
  if (storageClock !== null) {
    const help = "How far this machine's clock is ahead of the storage's, which is used for all that is stored";
    metrics.gauge({ name: "clock_offset_seconds", help }, () => storageClock.offsetMs / 1000);
  }
  const { pools } = storage;
  if (pools === undefined) return;
  const samples = (value: (figures: PoolFigures) => number) => (): GaugeSample[] =>
    pools().map((figures) => ({ labels: { pool: figures.pool }, value: value(figures) }));
  const labels = ["pool"];
  metrics.gauge(
    { name: "storage_connections", help: "Connections to the storage that are open", labels },
    samples(({ used, free }) => used + free),
  );
  metrics.gauge(
    { name: "storage_connections_in_use", help: "Connections to the storage at work", labels },
    samples(({ used }) => used),
  );
  metrics.gauge(
    { name: "storage_connections_max", help: "Most connections to the storage", labels },
    samples(({ max }) => max),
  );
  metrics.gauge(
    { name: "storage_connections_waiting", help: "Callers that wait for a connection", labels },
    samples(({ waiting }) => waiting),
  );
}
