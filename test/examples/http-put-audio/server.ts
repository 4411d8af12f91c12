import { randomUUID, timingSafeEqual } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { dirname, join, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { isAudioKey } from "fermata-music";

/** A folder behind HTTP, as the README of this adapter asks for it: for one machine, behind a proxy with TLS. */
const { ROOT = "audio", TOKEN = "", PORT = "8080" } = process.env;
if (TOKEN === "") throw new Error("TOKEN is missing.");
const root = resolve(ROOT);
await mkdir(root, { recursive: true });

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => {
    // A connection that ended before its time is the client's business, everything else the operator's.
    if (!request.destroyed || request.complete) console.error(error);
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end();
  });
});
server.requestTimeout = 0; // an upload may take as long as it takes

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "", headers } = request;
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const key = pathname.slice(1);
  if (!isAllowed(headers.authorization)) return end(response, 401);
  if (method === "GET" && key === "")
    return list(response, searchParams.get("after") ?? "", Number(searchParams.get("limit") ?? 1_000));
  if (!isAudioKey(key)) return end(response, 404);
  const path = join(root, key);
  if (method === "PUT") return put(request, response, path);
  const file = await stat(path, { bigint: true }).catch(unlessMissing);
  if (!file?.isFile()) return end(response, 404);
  if (method === "DELETE") {
    await rm(path, { force: true });
    return end(response, 204);
  }
  if (method !== "GET" && method !== "HEAD") return end(response, 405);
  const size = Number(file.size);
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
  const range = first === undefined ? null : { start: Number(first), end: Math.min(Number(last), size - 1) };
  if (range !== null && range.start > range.end) return end(response, 416);
  response.writeHead(range === null ? 200 : 206, {
    "Content-Length": range === null ? size : range.end - range.start + 1,
    "Content-Type": "application/octet-stream",
    ETag: `"${file.ino}-${file.mtimeNs}-${size}"`,
    "Last-Modified": file.mtime.toUTCString(),
    ...(range === null ? {} : { "Content-Range": `bytes ${range.start}-${range.end}/${size}` }),
  });
  if (method === "HEAD") response.end();
  else await pipeline(createReadStream(path, range ?? {}), response);
}

/** Whole or not at all: a file gets its name when it is complete and on the disk. */
async function put(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  const upload = join(root, `.upload-${randomUUID()}`);
  try {
    await pipeline(request, createWriteStream(upload, { flush: true })); // fails when the body is cut off
    await mkdir(dirname(path), { recursive: true });
    await rename(upload, path);
  } finally {
    await rm(upload, { force: true });
  }
  end(response, 204);
}

async function list(response: ServerResponse, after: string, limit: number): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const keys = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  const listed: { readonly key: string; readonly sizeBytes: number; readonly modifiedAt: number }[] = [];
  for (const key of keys.filter((name) => isAudioKey(name) && name > after).sort()) {
    if (listed.length >= limit) break;
    const file = await stat(join(root, key)).catch(unlessMissing); // it may have been deleted by now
    if (file !== null) listed.push({ key, sizeBytes: file.size, modifiedAt: Math.floor(file.mtimeMs) });
  }
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(listed));
}

function isAllowed(authorization = ""): boolean {
  const [given, allowed] = [Buffer.from(authorization), Buffer.from(`Bearer ${TOKEN}`)];
  return given.length === allowed.length && timingSafeEqual(given, allowed);
}

function unlessMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw error;
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

server.listen(Number(PORT), "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${PORT}/`));
process.once("SIGTERM", () => server.close());
