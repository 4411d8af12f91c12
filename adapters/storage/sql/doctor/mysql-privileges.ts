import { failed, type CheckResult, ok, warning } from "../../../../core/ports/self-check.js";
import { errorOf, quoted } from "./mysql-connection.js";
import type { Session } from "../session.js";

/**
 * Of a table that is not there, both servers first say what the user may not do, and only then that it is not there.
 */
const ABSENT = "fermata_doctor_absent";

const TO_RUN: Readonly<Record<string, string>> = {
  SELECT: `SELECT 1 FROM ${ABSENT}`,
  INSERT: `INSERT INTO ${ABSENT} (name) VALUES (1)`,
  UPDATE: `UPDATE ${ABSENT} SET name = 1`,
  DELETE: `DELETE FROM ${ABSENT}`,
};

const TO_MIGRATE: Readonly<Record<string, string>> = {
  CREATE: `CREATE TABLE ${ABSENT}_either LIKE ${ABSENT}`,
  ALTER: `ALTER TABLE ${ABSENT} ADD COLUMN name INT`,
  INDEX: `CREATE INDEX name ON ${ABSENT} (name)`,
  DROP: `DROP TABLE ${ABSENT}`,
};

/** Denied on a database, on a table. */
const DENIED = new Set([1044, 1142]);

/** What the user may do in the database, whichever way it was granted; tried without touching anything. */
export async function checkPrivileges(session: Session): Promise<CheckResult> {
  const name = "mysql privileges";
  const toRun = await deniedOf(session, TO_RUN);
  const toMigrate = await deniedOf(session, TO_MIGRATE);
  const [who] = await session.all<{ user: string; schema_name: string }>(
    "SELECT CURRENT_USER() AS user, DATABASE() AS schema_name",
  );
  const user = (who?.user ?? "").replace(/^(.*)@([^@]*)$/, "'$1'@'$2'");
  const denied = [...toRun, ...toMigrate];
  if (denied.length === 0) return ok(name, `${user} may do all that running and migrating needs.`);
  const grant = `GRANT ${denied.join(", ")} ON ${quoted(who?.schema_name ?? "")}.* TO ${user};`;
  if (toRun.length > 0) return failed(name, `${user} lacks ${denied.join(", ")}.`, `As an administrator: ${grant}`);
  const message = `${user} lacks ${denied.join(", ")}, which only migrations need.`;
  return warning(name, message, `Run \`fermata migrate\` as another user, or as an administrator: ${grant}`);
}

/** A lock of the server keeps two processes from migrating at once. */
export async function checkLocks(session: Session): Promise<CheckResult> {
  const name = "mysql locks";
  const lock = "CONCAT('fermata doctor ', CONNECTION_ID())";
  try {
    const [row] = await session.all<{ got: number | null }>(
      `SELECT GET_LOCK(${lock}, 0) AS got, RELEASE_LOCK(${lock}) AS released`,
    );
    if (row?.got === 1) return ok(name, "Named locks can be taken.");
    return failed(name, "A named lock of our own could not be taken.", REFUSES_LOCKS);
  } catch (error) {
    return failed(name, `Named locks are refused: ${errorOf(error).message}.`, REFUSES_LOCKS);
  }
}

const REFUSES_LOCKS = "Allow GET_LOCK in the server's configuration: migrations keep other processes away by it.";

async function deniedOf(session: Session, statements: Readonly<Record<string, string>>): Promise<string[]> {
  const denied: string[] = [];
  for (const [privilege, statement] of Object.entries(statements)) {
    try {
      await session.run(statement);
    } catch (error) {
      if (DENIED.has(errorOf(error).errno)) denied.push(privilege);
    }
  }
  return denied;
}
