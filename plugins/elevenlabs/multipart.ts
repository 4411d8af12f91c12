/** One part of a multipart response. */
export interface Part {
  /** Lower case; empty when the part does not name one. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** How far the first delimiter is searched for: a boundary has at most 70 characters (RFC 2046, section 5.1.1). */
const FIRST_LINE_MAX = 256;

/**
 * The parts of a `multipart/mixed` body (RFC 2046, section 5.1); `[]` when it is none. As in ElevenLabs' SDKs, lines
 * may end with LF alone, and the first line of the body is the delimiter where the header names none that is in it.
 */
export function partsOf(body: Uint8Array, contentType: string): Part[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = delimiterOf(bytes, contentType);
  if (delimiter === null) return [];
  const parts: Part[] = [];
  let at = bytes.indexOf(delimiter);
  while (at !== -1) {
    const after = at + delimiter.length;
    const blank = blankLineFrom(bytes, after);
    // Two more dashes end the body.
    if (blank === null || bytes.toString("latin1", after, after + 2) === "--") break;
    const head = bytes.toString("latin1", after, blank.at);
    const start = blank.at + blank.length;
    // The line break before a delimiter belongs to it, also where a part is empty.
    const next = bytes.indexOf(`\n${delimiter}`, start - 1);
    const hasReturn = blank.isCrLf && bytes[next - 1] === 0x0d;
    const end = next === -1 ? bytes.length : Math.max(start, hasReturn ? next - 1 : next);
    parts.push({
      contentType: (/^content-type:\s*([^;\r\n]+)/im.exec(head)?.[1] ?? "").trim().toLowerCase(),
      bytes: new Uint8Array(bytes.subarray(start, end)),
    });
    at = next === -1 ? -1 : next + 1;
  }
  return parts;
}

/** By the header where the body has it, else by the body's first line. */
function delimiterOf(bytes: Buffer, contentType: string): string | null {
  const [, quoted, bare] = /\bboundary=(?:"([^"]+)"|([^";\s]+))/i.exec(contentType) ?? [];
  const named = quoted ?? bare;
  if (named !== undefined && bytes.includes(`--${named}`)) return `--${named}`;
  const [first = ""] = bytes.toString("latin1", 0, FIRST_LINE_MAX).trimStart().split(/\r?\n/);
  return /^--\S/.test(first) ? first.trimEnd() : null;
}

interface BlankLine {
  readonly at: number;
  readonly length: number;
  readonly isCrLf: boolean;
}

/** Where the head of a part ends. */
function blankLineFrom(bytes: Buffer, from: number): BlankLine | null {
  const [lf, crLf] = ["\n\n", "\r\n\r\n"].map((lines) => bytes.indexOf(lines, from));
  if (lf === undefined || crLf === undefined || (lf === -1 && crLf === -1)) return null;
  const isCrLf = lf === -1 || (crLf !== -1 && crLf < lf);
  return isCrLf ? { at: crLf, length: 4, isCrLf } : { at: lf, length: 2, isCrLf };
}
