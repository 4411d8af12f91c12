import { parentPort } from "node:worker_threads";
import { ProviderFailure } from "../sdk/index.js";
import type { JobSpec, RenderedAsset, Results } from "./job-spec.js";
import type { WorkerReport } from "./render-pool.js";
import { renderTrack } from "./render.js";
import { splitOwnTrack } from "./split/own-track.js";

// The pool sends one job at a time, and the next after this one has reported its result.
parentPort?.on("message", (spec: JobSpec) => void response(spec));

async function response(spec: JobSpec): Promise<void> {
  try {
    const result = await carryOut(spec);
    report({ result }, buffersOf(result));
  } catch (error) {
    if (ProviderFailure.is(error)) report({ kind: error.kind, error: error.message });
    else report({ kind: "failed", error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

async function carryOut(spec: JobSpec): Promise<Results[JobSpec["kind"]]> {
  switch (spec.kind) {
    case "render":
      return renderTrack(spec);
    case "split-own":
      return splitOwnTrack(spec, spec.operation);
  }
}

/** Buffers to transfer instead of copying. */
function buffersOf(result: Results[JobSpec["kind"]]): ArrayBuffer[] {
  if (result === null) return [];
  const assets: readonly RenderedAsset[] = "assets" in result ? result.assets : result;
  return assets.map(({ bytes }) => bytes.buffer);
}

function report(message: WorkerReport, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
