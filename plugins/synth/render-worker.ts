import { parentPort } from "node:worker_threads";
import { ProviderFailure } from "../sdk/index.js";
import type { Order, RenderedAsset, Results } from "./order.js";
import type { WorkerReport } from "./render-pool.js";
import { renderTrack } from "./render.js";
import { splitOwnTrack } from "./split/own-piece.js";

// One order at a time comes in; the pool sends the next when this one has been answered.
parentPort?.on("message", (order: Order) => void response(order));

async function response(order: Order): Promise<void> {
  try {
    const result = await carryOut(order);
    report({ result }, buffersOf(result));
  } catch (error) {
    if (ProviderFailure.is(error)) report({ kind: error.kind, error: error.message });
    else report({ kind: "failed", error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

async function carryOut(order: Order): Promise<Results[Order["kind"]]> {
  switch (order.kind) {
    case "render":
      return renderTrack(order);
    case "split-own":
      return splitOwnTrack(order, order.operation);
  }
}

/** What is moved instead of copied. */
function buffersOf(result: Results[Order["kind"]]): ArrayBuffer[] {
  if (result === null) return [];
  const assets: readonly RenderedAsset[] = "assets" in result ? result.assets : result;
  return assets.map(({ bytes }) => bytes.buffer);
}

function report(message: WorkerReport, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
