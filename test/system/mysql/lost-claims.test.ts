import { expect } from "chai";
import type { ProcessId } from "../../../core/ids.js";
import type { Stores } from "../../../adapters/storage/sql/index.js";
import { aJob, anId, NOON } from "../../support/builders.js";
import { type MysqlDatabase, createMigratedMysqlDatabase } from "../../support/mysql.js";
import { type MysqlRelay, openMysqlRelay } from "../../support/mysql-relay.js";
import { sharedServer } from "../../support/shared-mysql.js";
import { aDelivery, anEvent } from "../../support/webhook-builders.js";
import { Interrupted } from "./interrupted.js";

const LEASE_UNTIL = NOON + 30_000;

/** What a process claims; one more than it takes is due. */
interface Claim {
  readonly name: string;
  add(stores: Stores): Promise<void>;
  /** @returns the ids and fences of what it took */
  take(stores: Stores, owner: ProcessId): Promise<readonly (readonly [id: string, fence: number])[]>;
}

const JOBS: Claim = {
  name: "jobs",
  add: ({ unitOfWork, jobs }) =>
    unitOfWork.inTransaction((tx) =>
      jobs.insertJobs(
        tx,
        [NOON - 3, NOON - 2, NOON - 1].map((dueAt) => aJob({ dueAt })),
      ),
    ),
  async take({ jobs }, owner) {
    const request = { providerId: "synth", phases: ["waiting"], limit: 2, now: NOON, leaseUntil: LEASE_UNTIL } as const;
    const claimed = await jobs.claimJobs({ ...request, owner, withRequests: true });
    expect(claimed.filter(({ wasLost }) => wasLost)).to.deep.equal([]);
    return claimed.map(({ job }) => [job.id, job.fence] as const);
  },
};

const ENDPOINT = anId("whe");

const DELIVERIES: Claim = {
  name: "deliveries of webhooks",
  add: ({ unitOfWork, webhooks }) =>
    unitOfWork.inTransaction(async (tx) => {
      const due = [NOON - 3, NOON - 2, NOON - 1].map((dueAt) => aDelivery({ endpointId: ENDPOINT, dueAt }));
      await webhooks.insertEvents(
        tx,
        due.map(({ eventId }) => anEvent({ id: eventId })),
      );
      await webhooks.insertDeliveries(tx, due);
    }),
  async take({ webhooks }, owner) {
    const claimed = await webhooks.claimDeliveries([{ endpointId: ENDPOINT, limit: 2 }], NOON, owner, LEASE_UNTIL);
    return claimed.map(({ delivery }) => [delivery.id, delivery.fence] as const);
  },
};

describe("A claim whose commit gets no reply from MySQL", () => {
  let database: MysqlDatabase;
  let relay: MysqlRelay;
  let process: Interrupted;

  beforeEach(async () => {
    database = await createMigratedMysqlDatabase();
    relay = await openMysqlRelay(await sharedServer());
    process = await Interrupted.open(relay.through(database.url));
  });
  afterEach(async () => {
    await process.close();
    await relay.tcp.close();
    await database.drop();
  });

  for (const { name, add, take } of [JOBS, DELIVERIES]) {
    it(`has taken its ${name}: they do not wait for their lease to end, and no more are taken`, async () => {
      await add(process.stores);
      const owner = anId("prc");
      const lost = relay.loseNext("COMMIT", "reply");
      const claimed = await take(process.stores, owner);
      await lost;
      expect(process.failures).to.have.length(1);
      expect(claimed.map(([, fence]) => fence)).to.deep.equal([1, 1]);
      expect(await take(process.stores, owner)).to.have.length(1);
    });

    it(`takes the ${name} again when the commit did not get to the server`, async () => {
      await add(process.stores);
      const lost = relay.loseNext("COMMIT", "request");
      const claimed = await take(process.stores, anId("prc"));
      await lost;
      expect(process.failures).to.have.length(1);
      expect(claimed.map(([, fence]) => fence)).to.deep.equal([1, 1]);
    });
  }
});
