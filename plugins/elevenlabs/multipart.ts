/** One part of a multipart answer. */
export interface Part {
  /** Lower case; empty when it does not say. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

const LINE_END = "\r\n";

/** The parts of a `multipart/mixed` body (RFC 2046, section 5.1); `[]` when it is none. */
export function partsOf(body: Uint8Array, contentType: string): Part[] {
  const [, quoted, bare] = /^multipart\/[^;]+;.*\bboundary=(?:"([^"]+)"|([^";\s]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) return [];
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = `--${boundary}`;
  const parts: Part[] = [];
  let at = bytes.indexOf(delimiter);
  while (at !== -1) {
    const after = at + delimiter.length;
    const headEnd = bytes.indexOf(LINE_END + LINE_END, after);
    // Two more dashes end the whole.
    if (headEnd === -1 || bytes.toString("latin1", after, after + 2) === "--") break;
    const head = bytes.toString("latin1", after, headEnd);
    const start = headEnd + 2 * LINE_END.length;
    // The line break before a delimiter belongs to it, also where a part is empty.
    const next = bytes.indexOf(LINE_END + delimiter, headEnd + LINE_END.length);
    parts.push({
      contentType: (/^content-type:\s*([^;\r\n]+)/im.exec(head)?.[1] ?? "").trim().toLowerCase(),
      bytes: new Uint8Array(bytes.subarray(start, next === -1 ? bytes.length : Math.max(start, next))),
    });
    at = next === -1 ? -1 : next + LINE_END.length;
  }
  return parts;
}
