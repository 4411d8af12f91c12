import { expect } from "chai";
import { createStores, openDatabase } from "../../../adapters/storage/sql/index.js";
import { SystemClock } from "../../../adapters/system/clock.js";
import { SystemRandom } from "../../../adapters/system/random.js";
import { aBalance, aMovement, anAccount } from "../../support/builders.js";
import { SILENT } from "../../support/databases.js";
import { GaleraCluster } from "../../support/galera.js";
import { query } from "../../support/mysql-server.js";
import { storageUnderTest, type StorageUnderTest } from "../../support/storage-under-test.js";

const GRANTS = 60;

/** Two that lost to each other wait for different times. */
const PORTS = { clock: new SystemClock(), random: new SystemRandom() };

/** Writes that another node certified first, which fail with 1213 at their COMMIT, and reads after writes elsewhere. */
describe("Two nodes of a Galera cluster that are written at once", function () {
  this.timeout(300_000);

  let cluster: GaleraCluster;
  let storages: StorageUnderTest[] = [];

  before(async () => {
    cluster = await GaleraCluster.start();
    await query(cluster.nodes[0]?.server ?? "", "CREATE DATABASE fermata");
    const databases = await Promise.all(
      [0, 1].map((first) => openDatabase({ url: cluster.url("fermata", first), logger: SILENT })),
    );
    await databases[0]?.migrate();
    storages = databases.map((database) => storageUnderTest(createStores(database, PORTS), () => database.close()));
  });

  after(async () => {
    for (const storage of storages) await storage.close();
    await cluster.close();
  });

  it("keep every change of one balance, as transactions that lost run again", async () => {
    const before = await failures(cluster);
    const account = anAccount();
    const [first, second] = storages as [StorageUnderTest, StorageUnderTest];
    await first.addAccount(account);
    const grant = async (storage: StorageUnderTest): Promise<void> =>
      storage.inTransaction(async (tx) => {
        const found = (await storage.ledger.lockBalances(tx, [account.id])).get(account.id);
        await storage.ledger.apply(tx, [aMovement(found ?? aBalance({ accountId: account.id }), { pack: 1 })]);
      });
    const granted = async (storage: StorageUnderTest): Promise<void> => {
      for (let count = 0; count < GRANTS; count++) await grant(storage);
    };
    await Promise.all([granted(first), granted(second)]);
    expect((await second.balanceOf(account.id)).pack).to.equal(2 * GRANTS);
    const lost = (await failures(cluster)) - before;
    process.stdout.write(`      ${lost} of ${2 * GRANTS} transactions lost to the other node\n`);
    expect(lost).to.be.above(0);
  });

  it("find through one node what was committed through another just before", async () => {
    const [first, second] = storages as [StorageUnderTest, StorageUnderTest];
    for (let count = 0; count < 200; count++) {
      const { id } = await first.addAccount();
      expect((await second.accounts.findAccounts([id])).size).to.equal(1);
    }
  });
});

/** How many transactions were undone on any node because another one's were certified first. */
async function failures(cluster: GaleraCluster): Promise<number> {
  const names = "('wsrep_local_cert_failures', 'wsrep_local_bf_aborts')";
  const rows = await Promise.all(
    cluster.nodes.map(({ server }) =>
      query<{ Value: string }>(server, `SHOW GLOBAL STATUS WHERE Variable_name IN ${names}`),
    ),
  );
  return rows.flat().reduce((sum, { Value }) => sum + Number(Value), 0);
}
