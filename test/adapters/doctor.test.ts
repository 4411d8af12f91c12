import { join } from "node:path";
import { checkSecretKey } from "../../adapters/crypto/doctor.js";
import { checkRabbitmq } from "../../adapters/queue/rabbitmq/doctor.js";
import { checkStorage } from "../../adapters/storage/sql/doctor/doctor.js";
import { checkFolder } from "../../adapters/system/doctor.js";
import type { SelfCheck } from "../../core/ports/self-check.js";
import { type SelfCheckUnderTest, selfCheckContract } from "../contract/self-check.contract.js";
import { SILENT, sqliteStorage, temporaryFolder } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";
import { openQueueSpace, RABBITMQ_SERVER } from "../support/rabbitmq.js";

const PASSWORD = "correct-horse-battery-staple";

const nothing = (): Promise<void> => Promise.resolve();

function storageAt(url: string, close: () => Promise<void>, secrets: readonly string[] = []): SelfCheckUnderTest {
  return { check: () => checkStorage({ url, logger: SILENT }), secrets, close };
}

selfCheckContract("SQLite", async () => {
  const { url, close } = await sqliteStorage.open();
  return storageAt(url, close);
});

selfCheckContract("SQLite without a file", async () =>
  storageAt(`sqlite:${join(await temporaryFolder(), "fermata.sqlite")}`, nothing),
);

selfCheckContract("SQLite in memory", async () => storageAt("sqlite::memory:", nothing));

selfCheckContract("MySQL", async () => {
  const { url, close } = await mysqlStorage.open();
  return storageAt(url, close);
});

selfCheckContract("MySQL with a wrong password", async () => {
  const { url, close } = await mysqlStorage.open();
  const wrong = new URL(url);
  wrong.password = PASSWORD;
  return storageAt(wrong.href, close, [PASSWORD]);
});

selfCheckContract("RabbitMQ", async () => {
  const space = await openQueueSpace();
  return {
    check: () => checkRabbitmq({ url: space.url, providerIds: ["one", "two"], fetch }),
    secrets: [],
    close: () => space.clear("one", "two"),
  };
});

selfCheckContract("RabbitMQ with a wrong password", async () => {
  const url = new URL(RABBITMQ_SERVER);
  url.password = PASSWORD;
  return {
    check: () => checkRabbitmq({ url: url.href, providerIds: ["one"], fetch }),
    secrets: [PASSWORD],
    close: nothing,
  };
});

selfCheckContract("a folder", async () => {
  const path = await temporaryFolder();
  return {
    check: () => checkFolder({ name: "folder", path, setting: "dataDir", fileMaxBytes: 1, isPrivate: true }),
    secrets: [],
    close: nothing,
  };
});

for (const kept of [null, "another fingerprint"]) {
  selfCheckContract(`the secret key, ${kept === null ? "for a new storage" : "but not the storage's"}`, async () => {
    const dataDir = await temporaryFolder();
    const check: SelfCheck = async () => [await checkSecretKey({ given: PASSWORD, dataDir, kept, isShared: false })];
    return { check, secrets: [PASSWORD], close: nothing };
  });
}
