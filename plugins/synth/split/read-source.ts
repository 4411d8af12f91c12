import { ProviderFailure } from "../../../core/ports/music-provider.js";
import type { SourceAudio } from "../../../core/ports/music-provider.js";
import { SPLIT_MAX_BYTES } from "./limits.js";

/**
 * Reads a whole source.
 *
 * @throws {ProviderFailure} `unavailable` as soon as the signal aborts, or where the source breaks off; `failed` where it is too large
 */
export async function readSource(source: SourceAudio, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const stopped = (): ProviderFailure => new ProviderFailure("unavailable", "the work was stopped while the track was read");
  if (signal.aborted) throw stopped();
  const parts = source.open()[Symbol.asyncIterator]();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(stopped());
  });
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([readWhole(parts), aborted]);
  } catch (cause) {
    if (ProviderFailure.is(cause)) throw cause;
    throw new ProviderFailure("unavailable", "the track could not be read", { cause });
  } finally {
    signal.removeEventListener("abort", stop);
    // Not awaited: a source that hangs would keep its job for good. Why it could not be closed does not matter to the answer.
    parts.return?.().catch(() => undefined);
  }
}

async function readWhole(parts: AsyncIterator<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const read: Uint8Array[] = [];
  let length = 0;
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
    length += next.value.length;
    if (length > SPLIT_MAX_BYTES) throw new ProviderFailure("failed", `the track's file is too large; allowed: ${SPLIT_MAX_BYTES} bytes`);
    read.push(next.value);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of read) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
