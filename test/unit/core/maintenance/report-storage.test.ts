import { expect } from "chai";
import { findDue, ReportStorage } from "../../../../core/maintenance/report-storage.js";
import type { RetentionRule } from "../../../../core/maintenance/retention.js";
import type { GrowthStore } from "../../../../core/ports/growth-store.js";
import { NOON } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

const DAY_MS = 86_400_000;
const RULE: RetentionRule = { kind: "request_log", setting: "retention.requestLogDays", keptMs: 30 * DAY_MS };

/** A storage of three tables, in which one row of the log is two days past its time. */
const GROWTH: GrowthStore = {
  tableSizes: (since) => {
    expect(since).to.equal(NOON - 7 * DAY_MS);
    return Promise.resolve({
      areRowsEstimated: false,
      tables: [
        { name: "accounts", rows: 10, bytes: 4_096, newRows: null },
        { name: "jobs", rows: 200, bytes: 40_000, newRows: 70 },
        { name: "tracks", rows: 0, bytes: 0, newRows: 0 },
      ],
    });
  },
  size: () => Promise.resolve({ bytes: 50_000, freeBytes: 10 }),
  due: (_kind, before, countMax) => Promise.resolve({ rows: Math.min(3, countMax), oldestAt: before - 2 * DAY_MS }),
};

describe("The report of the storage", () => {
  const report = (withAudio: boolean) => {
    const audio = {
      list: () => Promise.resolve([5, 7].map((sizeBytes) => ({ key: "job_1/0", sizeBytes, modifiedAt: 0 }))),
    };
    return new ReportStorage({ growth: GROWTH, audio, clock: new ManualClock(NOON), rules: [RULE] }).report({
      withAudio,
    });
  };

  it("has the largest table first, with the mean of a week in rows and bytes", async () => {
    const { tables, size, at } = await report(false);
    expect([at, size]).to.deep.equal([NOON, { bytes: 50_000, freeBytes: 10 }]);
    expect(tables).to.deep.equal([
      { name: "jobs", rows: 200, bytes: 40_000, rowsPerDay: 10, bytesPerDay: 2_000 },
      { name: "accounts", rows: 10, bytes: 4_096, rowsPerDay: null, bytesPerDay: null },
      { name: "tracks", rows: 0, bytes: 0, rowsPerDay: 0, bytesPerDay: null },
    ]);
  });

  it("has what is past its time, by its setting", async () => {
    const overdue = { ...RULE, rows: 3, oldestAt: NOON - 32 * DAY_MS, overdueMs: 2 * DAY_MS };
    expect((await report(false)).due).to.deep.equal([{ ...overdue, hasMore: false }]);
    expect(await findDue(GROWTH, [RULE], NOON, 2)).to.deep.equal([{ ...overdue, rows: 2, hasMore: true }]);
    const none: Pick<GrowthStore, "due"> = { due: () => Promise.resolve({ rows: 0, oldestAt: null }) };
    expect(await findDue(none, [RULE], NOON, 2)).to.deep.equal([
      { ...RULE, rows: 0, oldestAt: null, overdueMs: 0, hasMore: false },
    ]);
  });

  it("adds up the audio files when asked to", async () => {
    expect((await report(false)).audio).to.equal(null);
    expect((await report(true)).audio).to.deep.equal({ files: 2, bytes: 12 });
  });
});
