import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { expect } from "chai";
import type { Transaction } from "../../../core/ports/unit-of-work.js";
import { type MysqlUnderTest, mysqlStorage } from "../../support/mysql.js";

const CHANNEL = "net.client.socket";

describe("A connection to MySQL that is lost right before a statement", () => {
  const sockets: Socket[] = [];
  const watch = (message: unknown): void => void sockets.push((message as { readonly socket: Socket }).socket);
  let storage: MysqlUnderTest;

  before(async () => {
    subscribe(CHANNEL, watch);
    storage = await mysqlStorage.open();
  });
  after(async () => {
    unsubscribe(CHANNEL, watch);
    await storage.close();
  });

  /** The statement is sent before the event that tells of the loss. */
  function lose(): void {
    for (const socket of sockets.splice(0)) socket.resetAndDestroy();
  }

  it("is replaced for a transaction, which runs again", async () => {
    const runs: boolean[] = [];
    const work = async (tx: Transaction, { isRetry }: { readonly isRetry: boolean }): Promise<boolean> => {
      runs.push(isRetry);
      await storage.installation.lock(tx, "first");
      if (!isRetry) lose();
      await storage.installation.lock(tx, "second");
      return isRetry;
    };
    expect(await storage.unitOfWork.inTransaction(work)).to.equal(true);
    expect(runs).to.deep.equal([false, true]);
  });

  it("is replaced for a read", async () => {
    await storage.accounts.isEmpty();
    lose();
    expect(await storage.accounts.isEmpty()).to.equal(true);
  });
});
