import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

/** First line of what Node prints of a syntax error: the file, as a path or a URL, and the line. */
const PLACE = /^((?:file:\/\/)?\/[^\n]*):(\d+)$/m;

const IMPORT_MAX_MS = 10_000;

/**
 * Where a module, or one that it imports, has a syntax error, as `path:line`.
 *
 * @param url of the module whose import failed with this error
 * @returns null when the place cannot be found out
 */
export async function syntaxErrorPlace(error: SyntaxError, url: string): Promise<string | null> {
  return placeIn(error.stack ?? "") ?? placeIn(await reportOf(url));
}

/**
 * What a Node that fails with the same error prints. Node keeps the place of a syntax error in an ES module out of the
 * error that it throws, and prints it only when nothing catches the error. Modules with such an error are not run.
 */
function reportOf(url: string): Promise<string> {
  const args = ["--input-type=module", "--eval", "await import(process.argv[1])", url];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: {}, timeout: IMPORT_MAX_MS }, (_error, _stdout, stderr) => resolve(stderr));
  });
}

function placeIn(report: string): string | null {
  const [, file, line] = PLACE.exec(report) ?? [];
  if (file === undefined || line === undefined) return null;
  return `${file.startsWith("file:") ? fileURLToPath(file) : file}:${line}`;
}
