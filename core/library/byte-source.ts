/** A source of bytes, and its first bytes. */
export interface OpenedSource {
  /** The first bytes; fewer than asked for of a source that holds no more. */
  readonly head: Uint8Array;
  /** All of them, from the beginning; once. */
  bytes(): AsyncIterable<Uint8Array>;
  /** Closes a source that was not read to its end. */
  close(): Promise<void>;
}

/** Reads the first `headBytes` of a source, or a little more. @throws the error of the source */
export async function openSource(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  headBytes: number,
): Promise<OpenedSource> {
  const chunks = chunksOf(source);
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < headBytes) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    first.push(value);
    length += value.length;
  }
  const head = new Uint8Array(Math.min(length, headBytes));
  let filled = 0;
  for (const chunk of first) {
    const part = chunk.subarray(0, head.length - filled);
    head.set(part, filled);
    filled += part.length;
  }
  return {
    head,
    async *bytes() {
      yield* first;
      yield* chunks;
    },
    async close() {
      await chunks.return(undefined);
    },
  };
}

async function* chunksOf(source: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  if (source instanceof Uint8Array) yield source;
  else yield* source;
}
