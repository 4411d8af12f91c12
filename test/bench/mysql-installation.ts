import { readFile } from "node:fs/promises";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { JOBS } from "../../adapters/storage/sql/jobs/job-tables.js";
import { TRACK_ASSETS, TRACK_TAGS, TRACKS } from "../../adapters/storage/sql/library/track-tables.js";
import type { SqlValue, Table } from "../../adapters/storage/sql/session.js";
import type { App } from "../../config/index.js";
import { query, startPrivateMysql } from "../support/mysql-server.js";
import { SCRIPTED_TRACK } from "../support/doubles/scripted-provider.js";
import { openWriter } from "./bulk-writer.js";
import { type Holder, MODEL, openFermata } from "./installation.js";

const CREATED_AT_ONCE = 8;
/** As a song has them; lists do not show them. */
const PROMPT = "a slow ballad about the harbour at night, brushed drums, upright bass, warm tape noise. ".repeat(4);
const LYRICS = "The lamps go out along the quay, and all the boats are dreaming of the sea.\n".repeat(20);

/** With 128 MB for its pages, as they come, a server reads what it has just written from the disk. */
const ENOUGH_MEMORY = ["--innodb-buffer-pool-size=2G", "--innodb-log-file-size=512M"];

/** A storage on a database server of its own, so that its CPU time is that of the measured requests. */
export interface MysqlInstallation {
  readonly storageUrl: string;
  readonly holders: readonly Holder[];
  /** CPU time that the database server has used so far, in milliseconds. */
  databaseCpuMs(): Promise<number>;
  close(): Promise<void>;
}

/** @param generations of each account, completed, each with a track */
export async function makeMysqlInstallation(
  dataDir: string,
  { accounts, generations }: { readonly accounts: number; readonly generations: number },
): Promise<MysqlInstallation> {
  const server = await startPrivateMysql(ENOUGH_MEMORY);
  const storageUrl = `${server.server}/bench`;
  const admin = await createConnection(server.server);
  await admin.query("CREATE DATABASE bench CHARACTER SET utf8mb4");
  await admin.end();
  const databaseCpuMs = await cpuOfServer(server.server);
  const holders = await fill(dataDir, storageUrl, accounts, generations);
  return {
    storageUrl,
    holders,
    databaseCpuMs,
    close: () => server.close(),
  };
}

async function fill(dataDir: string, storageUrl: string, accounts: number, generations: number): Promise<Holder[]> {
  const { app, provider } = await openFermata(dataDir, {}, { storageUrl });
  const holders: Holder[] = [];
  while (holders.length < accounts) {
    const first = holders.length;
    const length = Math.min(CREATED_AT_ONCE, accounts - first);
    holders.push(...(await Promise.all(Array.from({ length }, (_, index) => newHolder(app, first + index)))));
  }
  provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
  const [pattern] = holders as [Holder];
  await app.work();
  for (let created = 0; created < generations; created++) {
    const input = { modelId: MODEL, prompt: "harbour at night" };
    const { id } = await app.generations.create(pattern.accountId, input, { key: `pattern ${created}` });
    await app.generations.wait(id);
  }
  await app.stop();
  await copyGenerations(storageUrl, holders.slice(1));
  return holders;
}

async function newHolder(app: App, number: number): Promise<Holder> {
  const { id } = await app.accounts.create({ name: `Account ${number}`, tier: "pro", acceptTerms: true });
  await app.credits.grant(id, 1_000_000_000, { bucket: "pack" });
  return { accountId: id, key: (await app.accounts.issueKey(id)).token };
}

/** Gives every account the generations of one, under ids of their own. */
async function copyGenerations(storageUrl: string, others: readonly Holder[]): Promise<void> {
  const connection = await createConnection({ uri: storageUrl, supportBigNumbers: true });
  const long = "UPDATE fermata_jobs SET request = JSON_SET(request, '$.prompt', ?, '$.lyrics', ?)";
  await connection.query(long, [PROMPT, LYRICS]);
  const writer = await openWriter(storageUrl);
  const copy = async <Row extends object>(table: Table<Row>): Promise<void> => {
    const name = `fermata_${table.name}`;
    const [rows] = await connection.query<RowDataPacket[]>(`SELECT ${table.columns.join(", ")} FROM ${name}`);
    const copies = others.flatMap(({ accountId }, number) =>
      rows.map((row) => {
        const values = table.columns.map((column) => [column, copied(row[column] as SqlValue, number)] as const);
        return { ...Object.fromEntries(values), ...("account_id" in row ? { account_id: accountId } : {}) } as Row;
      }),
    );
    await writer.write(table, copies);
  };
  await copy(JOBS);
  await copy(TRACKS);
  await copy(TRACK_TAGS);
  await copy(TRACK_ASSETS);
  await writer.close();
  await connection.query("ANALYZE TABLE fermata_jobs, fermata_tracks, fermata_track_assets, fermata_track_tags");
  await connection.end();
}

/** Another id of the same kind; everything else as it is. */
function copied(value: SqlValue, number: number): SqlValue {
  if (typeof value !== "string" || !/^(job|trk)_[0-9a-z]{26}$/.test(value)) return value;
  return `${value.slice(0, -5)}${String(number).padStart(5, "0")}`;
}

/** @returns what reads the CPU time that a server on this machine has used so far, in milliseconds */
export async function cpuOfServer(server: string): Promise<() => Promise<number>> {
  const [found] = await query<{ readonly file: string }>(server, "SELECT @@pid_file AS file");
  const pid = (await readFile(found?.file ?? "", "utf8")).trim();
  return () => cpuMsOf(pid);
}

/** User and system time of a process and its threads, in the kernel's ticks of 10 ms. */
async function cpuMsOf(pid: string): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const [, , , , , , , , , , , user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  return (user + system) * 10;
}
