import { ProviderFailure } from "../../sdk/index.js";
import { SPLIT_MAX_BYTES } from "./limits.js";

/**
 * Reads a whole source, chunk by chunk. The caller that opened the source closes it.
 *
 * @throws {ProviderFailure} `unavailable`: the source ended early; `failed`: it is too large
 */
export async function* readSource(parts: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let length = 0;
  for (let next = await nextOf(parts); next.done !== true; next = await nextOf(parts)) {
    length += next.value.length;
    if (length > SPLIT_MAX_BYTES)
      throw new ProviderFailure("failed", `the track's file is too large; allowed: ${SPLIT_MAX_BYTES} bytes`);
    yield next.value;
  }
}

async function nextOf(parts: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await parts.next();
  } catch (cause) {
    if (ProviderFailure.is(cause)) throw cause;
    throw new ProviderFailure("unavailable", "the track could not be read", { cause });
  }
}
