import { setTimeout as sleep } from "node:timers/promises";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type { DownloadLimits } from "./limits.js";

export type StreamLimits = Pick<DownloadLimits, "firstByteMs" | "idleMs" | "totalMs">;

type Bytes = AsyncIterator<Uint8Array>;

/**
 * A plugin's own stream, within the limits of a download: one that stands still would keep its job, and its slot, for
 * as long. Any error of it becomes a temporary failure.
 *
 * @throws {ProviderFailure} `unavailable`: it broke, or took too long; `failed`: it gives something else than bytes
 */
export async function* providerStream(
  open: () => AsyncIterable<Uint8Array>,
  { firstByteMs, idleMs, totalMs }: StreamLimits,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const whole = AbortSignal.any([signal, AbortSignal.timeout(totalMs)]);
  let stream: Bytes | null = null;
  let isStuck = false;
  try {
    stream = open()[Symbol.asyncIterator]();
    for (let waitMs = firstByteMs; ; waitMs = idleMs) {
      isStuck = true;
      const next = await within(stream, waitMs, whole);
      isStuck = false;
      if (next.done === true) {
        stream = null;
        return;
      }
      if (!ArrayBuffer.isView(next.value)) throw noBytes(next.value);
      yield next.value;
    }
  } catch (cause) {
    if (ProviderFailure.is(cause)) throw cause;
    throw new ProviderFailure("unavailable", "The provider's stream was interrupted.", { cause });
  } finally {
    const closing = close(stream);
    // One that is stuck closes when it goes on, or never.
    if (!isStuck) await closing;
  }
}

/** @throws {ProviderFailure} `unavailable`: nothing came in time; else what the stream throws */
async function within(stream: Bytes, waitMs: number, whole: AbortSignal): Promise<IteratorResult<Uint8Array>> {
  const come = new AbortController();
  const signal = AbortSignal.any([whole, come.signal]);
  const late = sleep(waitMs, "it stood still for too long", { signal }).catch(() =>
    (whole.reason as Error | undefined)?.name === "TimeoutError" ? "it timed out" : "it was aborted",
  );
  try {
    const next = await Promise.race([stream.next(), late]);
    if (typeof next !== "string") return next;
    throw new ProviderFailure("unavailable", `The provider's stream was given up: ${next}.`);
  } finally {
    come.abort();
  }
}

function noBytes(given: unknown): ProviderFailure {
  return new ProviderFailure("failed", `The provider's stream gave a ${typeof given}; allowed: bytes (Uint8Array).`);
}

async function close(stream: Bytes | null): Promise<void> {
  try {
    await stream?.return?.();
  } catch {
    return; // what it held is its own
  }
}
