import { expect } from "chai";
import { ServiceUnavailableError } from "../../../../core/errors.js";
import { type SubmissionState, SubmissionSwitch } from "../../../../core/execution/submission-switch.js";
import type { InstallationStore } from "../../../../core/ports/installation-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import { NOON } from "../../../support/builders.js";
import { unrecorded } from "../../../../core/audit/unrecorded.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

/** What all processes share, or cannot reach. */
class SharedStore implements Pick<InstallationStore, "find" | "keep"> {
  isReachable = true;
  private readonly kept = new Map<string, string>();

  async find(name: string): Promise<string | null> {
    if (!this.isReachable) throw new ServiceUnavailableError();
    return Promise.resolve(this.kept.get(name) ?? null);
  }

  async keep(name: string, value: string): Promise<void> {
    this.kept.set(name, value);
    return Promise.resolve();
  }

  write(_tx: Transaction, name: string, value: string): Promise<void> {
    return this.keep(name, value);
  }

  async keepFirst(name: string, value: string): Promise<string> {
    if (!this.kept.has(name)) await this.keep(name, value);
    return this.kept.get(name) as string;
  }
}

describe("SubmissionSwitch", () => {
  let clock: ManualClock;
  let installation: SharedStore;
  beforeEach(() => {
    clock = new ManualClock(NOON);
    installation = new SharedStore();
  });

  // What is kept here needs no transaction.
  const audit = unrecorded({ inTransaction: (work) => work({} as Transaction, { isRetry: false }) });
  const process = (startsAs: SubmissionState = "active", logger = new RecordingLogger()): SubmissionSwitch =>
    new SubmissionSwitch({ installation, audit, clock, logger, startsAs });

  it("shows a change at once in its own process, and within a second in another", async () => {
    const [own, other] = [process(), process()];
    expect([await own.arePaused(), await other.arePaused()]).to.deep.equal([false, false]);
    await own.pause();
    expect(await own.arePaused()).to.equal(true);
    clock.set(NOON + 999);
    expect(await other.arePaused(), "what it knows may be a second old").to.equal(false);
    clock.set(NOON + 1_000);
    expect(await other.arePaused()).to.equal(true);
  });

  it("reads again when the clock was set back", async () => {
    const [own, other] = [process(), process()];
    await other.arePaused();
    await own.pause();
    clock.set(NOON - 3_600_000);
    expect(await other.arePaused()).to.equal(true);
  });

  it("knows nothing while the storage is away, and looks again as soon as it is asked", async () => {
    const one = process();
    installation.isReachable = false;
    expect(await one.arePaused().catch((error: unknown) => error)).to.be.instanceOf(ServiceUnavailableError);
    installation.isReachable = true;
    expect(await one.arePaused()).to.equal(false);
  });

  it("starts paused where the settings say so, also when its first look finds no storage", async () => {
    await process().pause();
    await process().resume();
    const one = process("paused");
    installation.isReachable = false;
    await one.arePaused().catch(() => undefined);
    installation.isReachable = true;
    expect(await one.arePaused()).to.equal(true);
    clock.set(NOON + 1_000);
    await process().resume();
    expect(await one.arePaused()).to.equal(false);
  });

  it("goes on where its own process resumes it before it ever asked", async () => {
    const one = process("paused");
    await one.resume();
    expect(await one.arePaused()).to.equal(false);
  });

  it("logs each change once", async () => {
    const logger = new RecordingLogger();
    const one = process("active", logger);
    await one.arePaused();
    await one.pause();
    for (let second = 1; second <= 3; second++) {
      clock.set(NOON + second * 1_000);
      await one.arePaused();
    }
    await one.resume();
    await one.arePaused();
    expect(logger.lines.map(({ level }) => level)).to.deep.equal(["warn", "info"]);
  });
});
