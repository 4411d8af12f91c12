import { parentPort } from "node:worker_threads";
import type { RenderOrder } from "./order.js";
import type { WorkerReport } from "./render-pool.js";
import { renderTrack } from "./render.js";

// One order at a time comes in; the pool sends the next when this one has been answered.
parentPort?.on("message", (order: RenderOrder) => void answer(order));

async function answer(order: RenderOrder): Promise<void> {
  try {
    const track = await renderTrack(order);
    report(
      { track },
      track.assets.map(({ bytes }) => bytes.buffer),
    );
  } catch (error) {
    report({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function report(message: WorkerReport, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
