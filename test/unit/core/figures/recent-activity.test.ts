import { expect } from "chai";
import { READING_MS, RecentActivity } from "../../../../core/figures/recent-activity.js";
import type { Activity, TimeSpan } from "../../../../core/ports/activity-store.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A full hour. */
const SIX = Date.UTC(2026, 10, 21, 6);

function span(from: number, ms: number): TimeSpan {
  return { from, to: from + ms };
}

/** As many accepted jobs as there are minutes in the span, and one more attempt that was delivered. */
function happened({ from, to }: TimeSpan): Activity {
  return {
    requests: { total: 0, refused: 0, clientErrors: 0, serverErrors: 0 },
    jobs: { accepted: (to - from) / MINUTE_MS, completed: 0, failed: 0 },
    credits: { granted: 0, renewed: 0, expired: 0, reserved: 0, charged: 0, refunded: 0 },
    providers: [{ providerId: "suno", delivered: 1, failed: 0, wasted: 0 }],
  };
}

describe("RecentActivity", () => {
  let now: number;
  let takesMs: number;
  let asked: TimeSpan[];
  let recent: RecentActivity;
  beforeEach(() => {
    [now, takesMs, asked] = [SIX + 30.5 * MINUTE_MS, 0, []];
    recent = new RecentActivity({
      clock: { now: () => now },
      activity: {
        activityIn: (span) => {
          asked.push(span);
          now += takesMs;
          return Promise.resolve(happened(span));
        },
      },
    });
  });

  it("has 60 minutes and 24 hours, the last of each under way", async () => {
    const { hour, day } = await recent.report();
    expect([hour.from, hour.stepMs, hour.steps.length]).to.deep.equal([SIX - 29 * MINUTE_MS, MINUTE_MS, 60]);
    expect([day.from, day.stepMs, day.steps.length]).to.deep.equal([SIX - 23 * HOUR_MS, HOUR_MS, 24]);
    expect(hour.steps.map((step) => step?.jobs.accepted)).to.deep.equal(Array.from({ length: 60 }, () => 1));
    // An hour under way is the sum of its minutes: 31 have begun.
    expect(day.steps.map((step) => step?.jobs.accepted)).to.deep.equal([...Array.from({ length: 23 }, () => 60), 31]);
    expect(day.steps.at(-1)?.providers).to.deep.equal([{ providerId: "suno", delivered: 31, failed: 0, wasted: 0 }]);
  });

  it("reads only what may have changed since: the last minutes", async () => {
    await recent.report();
    asked = [];
    await recent.report();
    // Its rows of the log may come late: a minute is settled two minutes after its end.
    expect(asked).to.deep.equal([30, 29, 28].map((at) => span(SIX + at * MINUTE_MS, MINUTE_MS)));
  });

  it("reads an hour as a whole once it is settled, and as the sum of its minutes before", async () => {
    now = SIX + 1.5 * MINUTE_MS;
    const before = await recent.report();
    expect(before.day.steps.slice(-2).map((step) => step?.jobs.accepted)).to.deep.equal([60, 2]);
    expect(asked.filter(({ from, to }) => to - from === HOUR_MS && from === SIX - HOUR_MS)).to.deep.equal([]);
    now = SIX + 2 * MINUTE_MS;
    asked = [];
    await recent.report();
    await recent.report();
    expect(asked.filter(({ from, to }) => to - from === HOUR_MS)).to.deep.equal([span(SIX - HOUR_MS, HOUR_MS)]);
  });

  it("leaves out what takes too long, the oldest first, and reads it at later calls", async () => {
    takesMs = READING_MS / 10;
    const first = await recent.report();
    expect(first.hour.steps.filter((step) => step !== null)).to.have.length(10);
    expect(first.hour.steps.at(-1)).to.not.equal(null);
    expect(first.day.steps.filter((step) => step !== null)).to.have.length(0);
    takesMs = 0;
    const { hour, day } = await recent.report();
    expect([...hour.steps, ...day.steps]).to.not.include(null);
  });
});
