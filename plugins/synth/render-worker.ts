import { parentPort } from "node:worker_threads";
import type { RenderOrder } from "./order.js";
import type { WorkerReport } from "./render-pool.js";
import { renderTrack } from "./render.js";

parentPort?.on("message", async (order: RenderOrder) => {
  try {
    const track = await renderTrack(order);
    const buffers = new Set(track.assets.map(({ bytes }) => bytes.buffer));
    report({ track }, [...buffers]);
  } catch (error) {
    report({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});

function report(message: WorkerReport, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
