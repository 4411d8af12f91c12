import type { Session } from "./session.js";

/** The clock of the server, not the clock of this machine. */
export const MYSQL_TIME = "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED) AS now_ms";
/** The clock of the machine that all processes on one file share. */
export const SQLITE_TIME = "SELECT CAST(ROUND(unixepoch('subsec') * 1000) AS INTEGER) AS now_ms";

/** The storage's clock, in milliseconds since 1970. @param query one of those above */
export async function readTime(session: Session, query: string): Promise<number> {
  const [row] = await session.all<{ readonly now_ms: number }>(query);
  return Number(row?.now_ms);
}
