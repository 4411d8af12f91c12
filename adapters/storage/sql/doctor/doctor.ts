import type { Logger } from "../../../../core/ports/logger.js";
import { failed, type CheckResult, ok, warning } from "../../../../core/ports/self-check.js";
import type { KnexDatabase, SchemaStatus } from "../database.js";
import { openDatabase } from "../open-database.js";
import { classifyRefusal } from "./mysql-connection.js";
import { checkMysql } from "./mysql.js";
import { checkSqlite, classifySqliteRefusal, refuseSqliteFile } from "./sqlite.js";

export interface StorageDoctorOptions {
  /** As in `storage.url`. */
  readonly url: string;
  /** As in `storage.tablePrefix`. */
  readonly tablePrefix?: string | null;
  readonly logger: Logger;
}

/** What is checked of an engine, in addition to its schema. `target` is the URL without its scheme. */
interface Engine {
  /** Why it is no use to open the database; null when it can be tried. */
  refuse(target: string): Promise<CheckResult | null>;
  /** Which of several hosts are used, and why others are not. */
  checkHosts(target: string): Promise<readonly CheckResult[]>;
  check(database: KnexDatabase, target: string): Promise<readonly CheckResult[]>;
  /** A failure to open or to read. */
  classify(target: string, error: unknown): CheckResult;
}

/** By scheme of `storage.url`. */
const ENGINES: Readonly<Record<string, Engine>> = {
  sqlite: {
    refuse: refuseSqliteFile,
    checkHosts: () => Promise.resolve([]),
    check: checkSqlite,
    classify: classifySqliteRefusal,
  },
  mysql: {
    refuse: () => Promise.resolve(null),
    // Its driver is there only where a setting needs it.
    checkHosts: async (target) => (await import("./mysql-hosts.js")).checkMysqlHosts(target),
    check: checkMysql,
    classify: classifyRefusal,
  },
};

/** Checks the database with the connection options of the app. It creates and changes nothing. */
export async function checkStorage(options: StorageDoctorOptions): Promise<readonly CheckResult[]> {
  const { url } = options;
  const scheme = url.slice(0, url.indexOf(":"));
  const target = url.slice(scheme.length + 1);
  const engine = ENGINES[scheme];
  if (engine === undefined) throw new Error(`There is no storage of the scheme "${scheme}".`);
  const refused = await engine.refuse(target);
  if (refused !== null) return [refused];
  const hosts = await engine.checkHosts(target);
  let database: KnexDatabase | null = null;
  try {
    database = await openDatabase(options);
    return [...hosts, ...(await engine.check(database, target)), await checkSchema(database)];
  } catch (error) {
    return [...hosts, engine.classify(target, error)];
  } finally {
    await database?.close();
  }
}

async function checkSchema(database: KnexDatabase): Promise<CheckResult> {
  const name = "schema";
  try {
    return classifySchema(name, await database.schemaStatus());
  } catch (error) {
    return failed(name, `It cannot be read: ${messageOf(error)}.`, "Fix the other problems first.");
  }
}

function classifySchema(name: string, status: SchemaStatus): CheckResult {
  if (status.state === "current") return ok(name, "The schema is up to date.");
  if (status.state === "foreign") {
    const message = `Tables that Fermata did not create have names that it needs: ${status.tables.join(", ")}.`;
    return failed(name, message, "Choose another storage.tablePrefix, or another database.");
  }
  const list = status.migrations.join(", ");
  if (status.state === "pending") return failed(name, `The schema lacks ${list}.`, "Run `fermata migrate`.");
  const newer = `A newer Fermata has migrated the storage (${list})`;
  if (status.runs) return warning(name, `${newer}; this version runs on it.`, "Upgrade the processes that are left.");
  return failed(name, `${newer}.`, "Run that version, or restore a backup from before.");
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}
