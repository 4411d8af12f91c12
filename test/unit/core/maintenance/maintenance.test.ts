import { expect } from "chai";
import { Maintenance, type MaintenanceTask } from "../../../../core/maintenance/maintenance.js";
import { NOON } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

function setUp() {
  const clock = new ManualClock(NOON);
  const logger = new RecordingLogger();
  const runs: (readonly [id: string, atMs: number])[] = [];
  const task = (
    id: string,
    everyMs: number,
    run: MaintenanceTask["run"] = () => Promise.resolve(),
  ): MaintenanceTask => ({
    id,
    description: "A task of a test.",
    everyMs,
    run: (signal) => {
      runs.push([id, clock.now() - NOON]);
      return run(signal);
    },
  });
  const maintain = (...tasks: readonly MaintenanceTask[]): Maintenance => new Maintenance({ tasks, clock, logger });
  const failures = (): unknown[] => logger.lines.map(({ level, fields }) => [level, fields["task"]]);
  return { clock, runs, task, maintain, failures };
}

const fail = (): Promise<never> => Promise.reject(new Error("no luck"));

describe("Maintenance", () => {
  it("runs each task at its start and on its own schedule", async () => {
    const { clock, runs, task, maintain } = setUp();
    const maintenance = maintain(task("often", 1_000), task("rarely", 2_500));
    maintenance.start();
    await clock.advance(3_000);
    await maintenance.stop();
    await clock.advance(10_000);
    expect(runs).to.deep.equal([
      ["often", 0],
      ["rarely", 0],
      ["often", 1_000],
      ["often", 2_000],
      ["rarely", 2_500],
      ["often", 3_000],
    ]);
    expect(clock.sleeping).to.equal(0);
  });

  it("keeps the schedules of the others while one fails or never ends", async () => {
    const { clock, runs, task, maintain, failures } = setUp();
    const untilStopped = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    const maintenance = maintain(task("fails", 2_000, fail), task("hangs", 1_000, untilStopped), task("works", 1_000));
    maintenance.start();
    await clock.advance(2_000);
    await maintenance.stop();
    expect(runs.filter(([id]) => id === "works")).to.have.length(3);
    expect(runs.filter(([id]) => id === "hangs")).to.have.length(1);
    expect(failures()).to.deep.equal([
      ["error", "fails"],
      ["error", "fails"],
    ]);
  });

  it("runs all of them once, whatever the schedule and whichever fails", async () => {
    const { runs, task, maintain, failures } = setUp();
    await maintain(task("first", 1_000), task("fails", 1_000, fail), task("last", 86_400_000)).runOnce();
    expect(runs.map(([id]) => id)).to.deep.equal(["first", "fails", "last"]);
    expect(failures()).to.deep.equal([["error", "fails"]]);
  });
});
