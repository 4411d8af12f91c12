import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LocalAudioStore } from "../../adapters/audio/local/audio-store.js";
import type { Stores } from "../../adapters/storage/sql/index.js";
import { audioStoreContract } from "../contract/audio-store.contract.js";
import { callbackStoreContract } from "../contract/callback-store.contract.js";
import { jobStoreContract } from "../contract/job-store.contract.js";
import { libraryStoreContract } from "../contract/library-store.contract.js";
import { requestLogStoreContract } from "../contract/request-log-store.contract.js";
import { unitOfWorkContract } from "../contract/unit-of-work.contract.js";
import { webhookStoreContract } from "../contract/webhook-store.contract.js";
import { anId } from "../support/builders.js";
import { type StorageKind, sqliteStorage } from "../support/databases.js";
import { storageUnderTest } from "../support/storage-under-test.js";
import { FaultyPort } from "../support/doubles/faulty-port.js";

const faultySqlite: StorageKind = {
  name: "FaultyPort of SQLite",
  open: async () => {
    const { close, ...real } = await sqliteStorage.open();
    const stores: Stores = {
      ...real,
      unitOfWork: new FaultyPort(real.unitOfWork).port,
      jobs: new FaultyPort(real.jobs).port,
      library: new FaultyPort(real.library).port,
      callbacks: new FaultyPort(real.callbacks).port,
      requestLog: new FaultyPort(real.requestLog).port,
      webhooks: new FaultyPort(real.webhooks).port,
    };
    return storageUnderTest(stores, close);
  },
};

for (const { name, open } of [faultySqlite]) {
  unitOfWorkContract(name, open);
  jobStoreContract(name, open);
  libraryStoreContract(name, open);
  callbackStoreContract(name, open);
  requestLogStoreContract(name, open);
  webhookStoreContract(name, open);
}

audioStoreContract("FaultyPort of LocalAudioStore", async () => {
  const directory = await mkdtemp(join(tmpdir(), "fermata-audio-"));
  const store = new FaultyPort(await LocalAudioStore.open(join(directory, "audio"))).port;
  return { store, close: () => rm(directory, { recursive: true }) };
});

describe("FaultyPort", () => {
  const real = { count: 1, find: (id: string) => Promise.resolve(`found ${id}`), list: () => Promise.resolve([1]) };
  const broken = (): Error => new Error("broken");

  it("fails the calls of the named method only, while its condition holds", async () => {
    let isFaulty = true;
    const port = new FaultyPort(real).failOn("find", broken, () => isFaulty);
    const failure = await port.find(anId("job")).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property("message", "broken");
    expect([await port.list(), port.count]).to.deep.equal([[1], 1]);
    isFaulty = false;
    expect(await port.find("a")).to.equal("found a");
  });

  it("passes the real call to a fault, which may change it", async () => {
    const port = new FaultyPort(real).on("find", async (call, id) => `late: ${await call(id.toUpperCase())}`);
    expect(await port.find("a")).to.equal("late: found A");
  });

  it("is transparent again after a repair", async () => {
    const faulty = new FaultyPort(real);
    faulty.failOn("find", broken);
    faulty.repair();
    expect(await faulty.port.find("a")).to.equal("found a");
  });
});
