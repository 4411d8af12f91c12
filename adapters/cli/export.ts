import { createWriteStream } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import type { ExportedRecord } from "../../core/accounts/export-account.js";
import { OperationRefusedError } from "../../core/errors.js";
import type { CliHost, OperatorApp, Presenters } from "./host.js";
import { accountIn, addCommand, print, withApp, withProgress } from "./output.js";

interface ExportOptions {
  readonly out: string;
  readonly audio?: boolean;
  readonly json?: boolean;
}

/** What an export has written. */
interface Exported {
  readonly account: string;
  readonly out: string;
  readonly records: number;
  readonly files: number;
  /** Files that are named, and not stored any more. */
  readonly missing: readonly string[];
}

const LINES = "account.jsonl";

/** `accounts export`. */
export function addExport(accounts: Command, host: CliHost): void {
  addCommand(accounts, "export <account>", "Write everything that is kept of an account, as JSON Lines", [
    "accounts export acct_01j… --out alice.jsonl",
    "accounts export alice --out alice --audio",
  ])
    .requiredOption("--out <path>", "a new file that ends in .jsonl, or a folder for account.jsonl")
    .option("--audio", "copy the audio files as well, into the folder")
    .action(async (given: string, { out, audio = false, ...options }: ExportOptions, command: Command) => {
      const isFile = out.endsWith(".jsonl");
      if (isFile && audio) command.error("error: --audio needs a folder as --out");
      const work = (): Promise<Exported> =>
        withApp(host, async (app, present) =>
          exportTo({ app, present, id: await accountIn(app, given), path: resolve(out), isFile, audio }),
        );
      const exported = await withProgress(host, "Exporting", work);
      const { records, files, missing } = exported;
      print(host, options, exported, [
        `Wrote ${records} records to ${exported.out}${audio ? `, and ${files} files next to it` : ""}.`,
        ...missing.map((path) => `Not stored any more: ${path}`),
      ]);
    });
}

interface ExportTo {
  readonly app: OperatorApp;
  readonly present: Presenters;
  readonly id: string;
  readonly path: string;
  readonly isFile: boolean;
  readonly audio: boolean;
}

/** Readable by this user alone, whatever the umask. */
const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600];

async function exportTo({ app, present, id, path, isFile, audio }: ExportTo): Promise<Exported> {
  const folder = isFile ? dirname(path) : path;
  const out = isFile ? path : join(path, LINES);
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  const file = await open(out, "wx", FILE_MODE).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    throw new OperationRefusedError(`There is a file ${out} already; name another place.`);
  });
  const missing: string[] = [];
  let [records, files] = [0, 0];
  try {
    for await (const page of await app.exports.open(id)) {
      for (const key of audio ? filesOf(page) : []) {
        if (await copy(app, key, join(folder, present.exportedPath(key)))) files += 1;
        else missing.push(present.exportedPath(key));
      }
      await file.write(page.map((one) => `${JSON.stringify(present.exported(one))}\n`).join(""));
      records += page.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { account: id, out, records, files, missing };
}

function filesOf(page: readonly ExportedRecord[]): string[] {
  return page.flatMap((one) => {
    if (one.type === "job") return one.outputs.map(({ audioKey }) => audioKey);
    return one.type === "track" ? one.track.assets.map(({ audioKey }) => audioKey) : [];
  });
}

/** @returns false when it is not there */
async function copy(app: OperatorApp, key: string, to: string): Promise<boolean> {
  if (!(await app.exports.hasFile(key))) return false;
  await mkdir(dirname(to), { recursive: true, mode: FOLDER_MODE });
  await pipeline(Readable.from(app.exports.readFile(key)), createWriteStream(to, { mode: FILE_MODE }));
  return true;
}
