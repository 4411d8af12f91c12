/** The thread that renews leases. It loads no more than it needs: no knex, and only the driver of its engine. */
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../../../core/assert.js";
import { ClockLeaseRenewal } from "../../../../core/leases/clock-lease-renewal.js";
import type { Clock } from "../../../../core/ports/clock.js";
import type { LogFields, Logger } from "../../../../core/ports/logger.js";
import { HeartbeatConnection } from "./connection.js";
import type { FromThread, HeartbeatOrder, ToThread } from "./messages.js";

/**
 * A main thread that has shown no sign of life for so many leases is taken to hang for good, and its jobs are left to
 * others. With the default lease that is five minutes: longer than anything that blocks an event loop and comes back.
 */
const SILENT_LEASES_MAX = 10;

/** Leases that have waited longer for this thread are renewed at once, as a share of the lease. */
const START_LEASES_MAX = 0.1;

const port = parentPort;
assert(port !== null, "this file is the first of a thread");
const { storage, owner, leaseMs, leases, since } = workerData as HeartbeatOrder;

const send = (message: FromThread): void => port.postMessage(message);
/** For the waits between renewals. When a lease ends is said by the storage's clock, which the connection reads. */
const clock: Clock = { now: () => performance.now(), sleep };
const connection = new HeartbeatConnection(storage, leaseMs);
let heardAt = performance.now();

const renewal = new ClockLeaseRenewal({
  owner,
  leaseMs,
  clock,
  logger: sendingLogger({}),
  jobs: {
    async renewLeases(renewedFor, jobIds) {
      if (performance.now() - heardAt > SILENT_LEASES_MAX * leaseMs) await leave();
      send({ kind: "beat" });
      return connection.renewLeases(renewedFor, jobIds);
    },
  },
});
renewal.onLost((jobId, fence) => send({ kind: "lost", jobId, fence }));

port.on("message", (message: ToThread) => {
  heardAt = performance.now();
  if (message.kind === "close") void close();
  if (message.kind !== "leases") return;
  for (const [jobId, fence] of message.forgotten) renewal.forget(jobId, fence);
  renewal.keep(message.kept);
});

// They have waited for this thread to start, and possibly long for the previous one to end.
if (Date.now() - since > leaseMs * START_LEASES_MAX) renewal.resume(leases);
else renewal.keep(leases);

/**
 * Is cut short whenever the last lease is forgotten, which may be very often: Node's own would make an error each time.
 */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake);
    function wake(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    }
  });
}

async function close(): Promise<void> {
  await renewal.close();
  await connection.close();
  process.exit();
}

/** Should the main thread come back after all, it finds that this one has ended, and starts another. */
async function leave(): Promise<never> {
  sendingLogger({}).error("The main thread shows no sign of life; its jobs are left to other workers", {
    leases: SILENT_LEASES_MAX,
  });
  await connection.close();
  process.exit();
}

function sendingLogger(own: LogFields): Logger {
  const at = (level: Exclude<keyof Logger, "child" | "isDebugEnabled">) => (message: string, fields?: LogFields) =>
    send({ kind: "log", level, message, fields: { ...own, ...fields } });
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => sendingLogger({ ...own, ...fields }),
  };
}
