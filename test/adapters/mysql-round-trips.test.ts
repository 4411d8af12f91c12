import { expect } from "chai";
import sinon from "sinon";
import { MysqlSession } from "../../adapters/storage/sql/mysql/session.js";
import type { ApplyReports } from "../../core/attempts/apply-reports.js";
import type { AccountId } from "../../core/ids.js";
import type { AcceptJobs } from "../../core/jobs/accept-jobs.js";
import { createJobs } from "../../core/jobs/create-jobs.js";
import type { JobState } from "../../core/jobs/job.js";
import { anId, NOON } from "../support/builders.js";
import { corePorts } from "../support/core-ports.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import { aCompletion, anIntent, reportsOn } from "../support/reports.js";
import { eventsOf } from "../support/webhook-events.js";
import { aGivenKey, anAcceptCommand } from "../unit/core/jobs/commands.js";

const JOBS = 120;
const CLAIM = { phases: ["waiting"], limit: JOBS, owner: anId("prc") } as const;

describe("Round trips to MySQL", () => {
  const clock = new ManualClock(NOON);
  let storage: MysqlUnderTest;
  let accept: AcceptJobs;
  let reports: ApplyReports;
  let accountId: AccountId;
  let packets: sinon.SinonSpy;
  before(async () => {
    storage = await mysqlStorage.open();
    accept = createJobs(corePorts(storage, { clock }), eventsOf(storage)).acceptJobs;
    reports = reportsOn(storage, clock);
  });
  after(() => storage.close());
  beforeEach(async () => {
    ({ id: accountId } = await storage.addAccount({}, { monthly: 1_000 }));
    packets = sinon.spy(MysqlSession.prototype, "send" as keyof MysqlSession);
  });
  afterEach(() => sinon.restore());

  /** @returns the provider whose jobs they are */
  async function accepted(): Promise<string> {
    const providerId = `of ${accountId}`;
    const commands = Array.from({ length: JOBS }, (_, key) => {
      const command = anAcceptCommand(accountId, { concurrencyLimit: JOBS, idempotency: aGivenKey(`key ${key}`) });
      return { ...command, job: { ...command.job, providerId } };
    });
    packets.resetHistory();
    await Promise.all(commands.map((command) => accept.accept(command)));
    return providerId;
  }

  async function claimed(): Promise<JobState[]> {
    const at = { providerId: await accepted(), now: clock.now(), leaseUntil: clock.now() + 30_000 };
    packets.resetHistory();
    return (await storage.jobs.claimJobs({ ...CLAIM, ...at })).map(({ job }) => job);
  }

  it("are two for the acceptance of many jobs", async () => {
    await accepted();
    expect(packets.callCount).to.equal(2);
  });

  it("are two for a claim, however many jobs it takes", async () => {
    expect(await claimed()).to.have.length(JOBS);
    expect(packets.callCount).to.equal(2);
  });

  it("are three for reports on many jobs, and four where these end", async () => {
    const jobs = await claimed();
    packets.resetHistory();
    await Promise.all(jobs.map((job) => reports.apply(anIntent(job))));
    expect(packets.callCount).to.equal(3);
    packets.resetHistory();
    const applied = await Promise.all(jobs.map((job) => reports.apply(aCompletion(job))));
    expect(applied.every(({ ended }) => ended?.job.status === "completed")).to.equal(true);
    expect(packets.callCount).to.equal(4);
  });
});
