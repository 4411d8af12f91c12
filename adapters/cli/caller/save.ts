import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { OperationRefusedError } from "../../../core/errors.js";
import { audioEndingOf } from "../../../core/library/audio-type.js";
import { type AssetContentType, fileEndingOf } from "../../../core/ports/provider/assets.js";
import type { CliHost } from "../host.js";
import type { CallerApi, CallerJob, CallerOutput, SplitKind } from "./caller-api.js";

/** Where the files of a job are to go. */
export interface Destination {
  /** Absolute. */
  readonly path: string;
  readonly isFolder: boolean;
  /** Whether files that are there are replaced. */
  readonly force: boolean;
}

export interface SavedFile {
  readonly path: string;
  readonly label: string;
  readonly size_bytes: number;
}

/** What files of stems are mostly named after; a server's splitter may have others, which are known at its end only. */
const USUAL_LABELS: { readonly [kind in SplitKind]: readonly string[] } = {
  vocal_removal: ["vocals", "instrumental"],
  stem_split: ["vocals", "instrumental", "drums", "bass", "guitar", "piano", "strings", "synth", "other"],
};

const TRIES = 5;
const RETRY_MS = 500;

/**
 * Checks, before anything is bought, that files can go there.
 *
 * @throws {OperationRefusedError} there is a file already, or no folder for it
 */
export async function destinationOf(
  host: CliHost,
  out: string,
  { isFolder, force = false }: { readonly isFolder: boolean; readonly force?: boolean | undefined },
): Promise<Destination> {
  const path = resolve(host.caller.cwd, out);
  if (isFolder) {
    if ((await kindOf(path)) === "file") throw new OperationRefusedError(`${out} is a file; name a folder.`);
    return { path, isFolder, force };
  }
  const kind = await kindOf(path);
  if (kind === "folder") throw new OperationRefusedError(`${out} is a folder; name a file in it.`);
  if (kind === "file" && !force) throw existsAlready(out);
  if ((await kindOf(dirname(path))) !== "folder")
    throw new OperationRefusedError(`There is no folder ${dirname(path)}.`);
  return { path, isFolder, force };
}

/**
 * Checks, before a split is bought, that the folder has no stems of another one.
 *
 * @throws {OperationRefusedError} it has a file that is named as a stem
 */
export async function checkStems({ path, force }: Destination, kind: SplitKind): Promise<void> {
  if (force || (await kindOf(path)) === null) return;
  const isStem = (name: string): boolean =>
    audioEndingOf(name) !== null && USUAL_LABELS[kind].includes(name.slice(0, -extname(name).length));
  const names = await readdir(path).catch((error: unknown) => {
    throw new OperationRefusedError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  });
  const found = names.sort().find(isStem);
  if (found !== undefined) throw existsAlready(join(path, found), "another folder");
}

/** Whether a file is at the name of one of the job's own. */
export async function areThere(job: CallerJob, destination: Destination): Promise<boolean> {
  for (const path of namesOf(job.outputs, destination)) {
    if ((await kindOf(path)) !== null) return true;
  }
  return false;
}

/**
 * Fetches the files of a job that completed. Each is there whole or not at all: it has a temporary name until then.
 *
 * @throws {OperationRefusedError} there is a file of such a name already; nothing was fetched
 */
export async function saveOutputs(
  host: CliHost,
  api: CallerApi,
  job: CallerJob,
  destination: Destination,
): Promise<SavedFile[]> {
  const names = namesOf(job.outputs, destination);
  for (const path of destination.force ? [] : names) {
    if ((await kindOf(path)) !== null) throw existsAlready(path);
  }
  if (destination.isFolder) await mkdir(destination.path, { recursive: true });
  const saved: SavedFile[] = [];
  for (const [index, path] of names.entries()) {
    const { label } = job.outputs[index] as CallerOutput;
    const size_bytes = await fetchTo(host, path, {
      output: job.outputs[index] as CallerOutput,
      again: async () => (await api.job(job.job_id)).outputs[index] as CallerOutput,
    });
    saved.push({ path, label, size_bytes });
  }
  return saved;
}

/** The path of each file: in a folder by what it holds, else as the destination says; several are numbered. */
export function namesOf(
  outputs: readonly CallerOutput[],
  { path, isFolder }: Pick<Destination, "path" | "isFolder">,
): string[] {
  const given = isFolder ? "" : audioEndingIn(path);
  const stem = isFolder ? "" : path.slice(0, path.length - given.length);
  const taken = new Map<string, number>();
  return outputs.map((output, index) => {
    const ending = endingOf(output);
    if (!isFolder) return `${stem}${outputs.length === 1 ? "" : `-${index + 1}`}${ending}`;
    // A provider's own word is no path.
    const label = output.label.toLowerCase().replace(/[^a-z0-9_-]+/g, "_") || "file";
    const count = (taken.get(label) ?? 0) + 1;
    taken.set(label, count);
    return join(path, `${label}${count === 1 ? "" : `-${count}`}${ending}`);
  });
}

/** With its dot; empty where the name does not end as that of a sound. */
function audioEndingIn(path: string): string {
  return audioEndingOf(basename(path)) === null ? "" : extname(path);
}

function endingOf({ content_type: type }: CallerOutput): string {
  return `.${fileEndingOf(type.split(";")[0]?.trim() as AssetContentType) ?? "bin"}`;
}

interface Fetched {
  readonly output: CallerOutput;
  /** The output with a link of now. */
  again(): Promise<CallerOutput>;
}

/** @returns how many bytes the file has */
async function fetchTo(host: CliHost, path: string, { output, again }: Fetched): Promise<number> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.part`);
  const file = await open(temporary, "wx").catch((error: unknown) => {
    throw new OperationRefusedError(`${path} cannot be written: ${(error as Error).message}`, { cause: error });
  });
  try {
    let size = 0;
    try {
      size = await fetchWhole(host, output, again, (bytes, at) => file.write(bytes, 0, bytes.length, at));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    return size;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Goes on where the connection was lost. */
async function fetchWhole(
  host: CliHost,
  { url, size_bytes: expected }: CallerOutput,
  again: Fetched["again"],
  write: (bytes: Uint8Array, at: number) => Promise<unknown>,
): Promise<number> {
  let [link, at] = [url, 0];
  for (let attempt = 1; ; attempt += 1) {
    try {
      for await (const { bytes, from } of chunksOf(host, link, at)) {
        await write(bytes, from);
        at = from + bytes.length;
      }
      if (expected !== null && at !== expected) throw new Error(`it has ${at} bytes of ${expected}`);
      return at;
    } catch (error) {
      if (attempt === TRIES)
        throw new OperationRefusedError(`The file could not be fetched: ${(error as Error).message}.`, {
          cause: error,
        });
      await sleep(RETRY_MS * attempt);
      // Links expire.
      link = (await again()).url;
    }
  }
}

async function* chunksOf(
  { caller }: CliHost,
  url: string,
  at: number,
): AsyncGenerator<{ readonly bytes: Uint8Array; readonly from: number }> {
  const response = await caller.fetch(url, at === 0 ? {} : { headers: { Range: `bytes=${at}-` } });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`the server responded with ${response.status}`);
  }
  let from = response.status === 206 ? at : 0;
  for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
    yield { bytes, from };
    from += bytes.length;
  }
}

async function kindOf(path: string): Promise<"file" | "folder" | null> {
  try {
    return (await stat(path)).isDirectory() ? "folder" : "file";
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new OperationRefusedError(`${path} cannot be read: ${message}`, { cause: error });
  }
}

function existsAlready(path: string, another = "another"): OperationRefusedError {
  return new OperationRefusedError(`There is a file ${path} already; name ${another}, or replace it with --force.`);
}
