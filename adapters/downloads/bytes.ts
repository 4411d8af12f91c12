import { ProviderFailure, type PlainSource } from "../../core/ports/music-provider.js";

export async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

export function tooLarge(maxBytes: number): ProviderFailure {
  return new ProviderFailure("failed", `It is larger than ${maxBytes} bytes.`);
}

/** The same bytes. @throws {ProviderFailure} `failed` as soon as there are more than allowed */
export async function* atMost(maxBytes: number, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.byteLength;
    if (length > maxBytes) throw tooLarge(maxBytes);
    if (chunk.byteLength > 0) yield chunk;
  }
}

/**
 * @throws {ProviderFailure} `failed` for text that is not exactly base64 or hex: a decoder that passes over strays
 * would store noise
 */
export function decoded({ encoding, text }: Extract<PlainSource, { kind: "text" }>): Uint8Array {
  const isGood = encoding === "hex" ? isHex(text) : isBase64(text);
  if (!isGood) throw new ProviderFailure("failed", `Its text is no ${encoding}.`);
  return Buffer.from(text, encoding);
}

// They look for a stray character: a pattern that had to fit a long text as a whole would run out of stack.
function isHex(text: string): boolean {
  return text.length % 2 === 0 && !/[^0-9a-f]/i.test(text);
}

function isBase64(text: string): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  if (/[^A-Za-z0-9+/]/.test(padding === 0 ? text : text.slice(0, -padding))) return false;
  return padding === 0 ? text.length % 4 !== 1 : text.length % 4 === 0;
}
