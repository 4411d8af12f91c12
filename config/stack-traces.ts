import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { fileURLToPath } from "node:url";

/** Of the files that stack traces have named so far; null where there is no map. */
const maps = new Map<string, SourceMap | null>();

/**
 * Shows stack traces by the lines of the sources. Node's own `--enable-source-maps` reads the map of every module that
 * is loaded, which takes memory and a part of the start; here a map is read when a trace is shown that names its file.
 */
export function traceSources(): void {
  if (!process.execArgv.includes("--enable-source-maps")) Error.prepareStackTrace = traceOf;
}

/** A stack trace as V8 writes it, by the lines of the sources. */
export function traceOf(error: Error, frames: readonly NodeJS.CallSite[]): string {
  return [headOf(error), ...frames.map(lineOf)].join("\n    at ");
}

function headOf(error: Error): string {
  try {
    return String(error);
  } catch {
    return "<error>";
  }
}

function lineOf(frame: NodeJS.CallSite): string {
  const line = (frame as NodeJS.CallSite & { toString(): string }).toString();
  const [file, lineNumber, columnNumber] = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()];
  if (typeof file !== "string" || lineNumber === null || columnNumber === null) return line;
  const entry = mapOf(file)?.findEntry(lineNumber - 1, columnNumber - 1);
  if (entry === undefined || !("originalSource" in entry)) return line;
  const place = `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  return line.replace(`${file}:${lineNumber}:${columnNumber}`, place);
}

function mapOf(file: string): SourceMap | null {
  let map = maps.get(file);
  if (map === undefined) maps.set(file, (map = readMap(file)));
  return map;
}

/** Only modules of our own have a map next to them. */
function readMap(file: string): SourceMap | null {
  if (!file.startsWith("file:")) return null;
  try {
    const payload = JSON.parse(readFileSync(fileURLToPath(`${file}.map`), "utf8")) as SourceMapPayload;
    // Sources are named from the place of the map.
    const sources = payload.sources.map((source) => new URL(source, file).href);
    return new SourceMap({ ...payload, sources });
  } catch {
    return null;
  }
}
