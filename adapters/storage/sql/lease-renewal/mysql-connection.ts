import { cannotConnect } from "../mysql/errors.js";
import { MysqlHosts } from "../mysql/hosts.js";
import { MYSQL_LIMITS, sessionSetup } from "../mysql/options.js";
import { MysqlSession } from "../mysql/session.js";
import { MYSQL_TIME } from "../storage-time.js";
import type { DedicatedConnection, ConnectionOptions } from "./dedicated-connection.js";

const LOCK_WAIT_SECONDS = 1;
/** More than the wait for a lock. */
const RESPONSE_MIN_MS = 1_500;
const POLLS_PER_LEASE = 6;
const GOODBYE_MS = 500;

const ROW_LOCKED = [1205, 1213];

/** @throws {Error} no server answers */
export async function openMysqlConnection({ target, names, leaseMs }: ConnectionOptions): Promise<DedicatedConnection> {
  const hosts = new MysqlHosts(target);
  const limitMs = Math.max(RESPONSE_MIN_MS, leaseMs / POLLS_PER_LEASE);
  const connection = await hosts
    .open(sessionSetup(LOCK_WAIT_SECONDS), hosts.areSeveral ? MYSQL_LIMITS.connectMs : limitMs)
    .catch((error: unknown) => {
      throw cannotConnect(error as Error);
    });
  let isOpen = true;
  // Also how it is known that the server has ended a connection which said nothing for long.
  connection.on("error", () => (isOpen = false));
  const session = new MysqlSession(connection, { limitMs, names });
  return {
    session,
    timeQuery: MYSQL_TIME,
    get isOpen() {
      return isOpen;
    },
    isRowLocked: (error) => ROW_LOCKED.includes((error as { readonly errno?: number }).errno ?? 0),
    close: () =>
      new Promise((resolve) => {
        const late = setTimeout(done, GOODBYE_MS);
        function done(): void {
          clearTimeout(late);
          connection.destroy();
          resolve();
        }
        connection.end(done);
      }),
  };
}
