import type { JobId, ProcessId } from "../../../../core/ids.js";
import { HELD, RENEW } from "../jobs/lease-rows.js";
import { readTime } from "../storage-time.js";
import { TableNames } from "../table-names.js";
import type { StorageAddress } from "./messages.js";
import type { DedicatedConnection, ConnectionOptions } from "./dedicated-connection.js";

/** By scheme of `storage.url`. Only what is used is loaded: the thread is to be small, and quick to start. */
const CONNECTIONS: Readonly<Record<string, (options: ConnectionOptions) => Promise<DedicatedConnection>>> = {
  sqlite: async (options) => (await import("./sqlite-connection.js")).openSqliteConnection(options),
  mysql: async (options) => (await import("./mysql-connection.js")).openMysqlConnection(options),
};

/** The dedicated connection of the lease renewal, opened when it is needed, and again after an error. */
export class HeartbeatConnection {
  private connection: DedicatedConnection | null = null;

  constructor(
    private readonly storage: StorageAddress,
    private readonly leaseMs: number,
  ) {}

  /**
   * As `JobStore.renewLeases`, for a whole lease by the storage's clock, which is read on this connection. Each lease
   * is renewed in a statement of its own: a row that another transaction keeps locked holds up no other, and no lock
   * outlives a statement, even if this process is stopped right then.
   */
  async renewLeases(owner: ProcessId, jobIds: readonly JobId[]): Promise<Map<JobId, number>> {
    const connection = await this.opened();
    try {
      const leaseUntil = (await readTime(connection.session, connection.timeQuery)) + this.leaseMs;
      let locked: Error | null = null;
      for (const id of jobIds) {
        try {
          await connection.session.run(RENEW, [leaseUntil, id, owner]);
        } catch (error) {
          if (!connection.isRowLocked(error)) throw error;
          locked = error as Error;
        }
      }
      if (locked !== null) throw locked;
      const rows = await connection.session.allEach<{ readonly id: JobId; readonly fence: number }>(
        HELD,
        jobIds.map((id) => [id, owner]),
      );
      return new Map(rows.map(({ id, fence }) => [id, fence]));
    } catch (error) {
      if (!connection.isRowLocked(error)) await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const { connection } = this;
    this.connection = null;
    await connection?.close();
  }

  private async opened(): Promise<DedicatedConnection> {
    if (this.connection?.isOpen === false) await this.close();
    if (this.connection === null) {
      const { url, tablePrefix } = this.storage;
      const at = url.indexOf(":");
      const open = CONNECTIONS[url.slice(0, at)];
      if (open === undefined)
        throw new Error(`Leases cannot be renewed in a storage of this kind: ${url.slice(0, at)}.`);
      const names = new TableNames(tablePrefix);
      this.connection = await open({ target: url.slice(at + 1), names, leaseMs: this.leaseMs });
    }
    return this.connection;
  }
}
