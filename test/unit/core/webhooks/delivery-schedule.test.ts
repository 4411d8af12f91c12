import { expect } from "chai";
import fc from "fast-check";
import { afterDeliveryAttempt, scheduleEndsWithinMs } from "../../../../core/webhooks/delivery-schedule.js";
import { NOON } from "../../../support/builders.js";

const HOUR_MS = 3_600_000;
const SCHEDULE = [5_000, 300_000, HOUR_MS];
const failed = (retryAfterMs: number | null = null) => ({ failure: "http_5xx", retryAfterMs }) as const;

describe("The schedule of a delivery", () => {
  it("ends with the first success", () => {
    expect(
      afterDeliveryAttempt({ attempts: 2 }, { failure: null, retryAfterMs: null }, SCHEDULE, NOON, 0.5),
    ).to.deep.equal({
      state: "delivered",
      attempts: 3,
      leaseOwner: null,
      dueAt: null,
      endedAt: NOON,
    });
  });

  it("waits as planned between tries, a fifth more or less", () => {
    const due = (attempts: number, fraction: number): number | null =>
      afterDeliveryAttempt({ attempts }, failed(), SCHEDULE, NOON, fraction).dueAt;
    expect([due(0, 0.5), due(1, 0.5), due(2, 0.5)]).to.deep.equal(SCHEDULE.map((wait) => NOON + wait));
    expect([due(0, 0), due(0, 1)]).to.deep.equal([NOON + 4_000, NOON + 6_000]);
  });

  it("is exhausted when the last try fails: one more than there are waits", () => {
    expect(afterDeliveryAttempt({ attempts: 3 }, failed(), SCHEDULE, NOON, 0.5)).to.include({
      state: "exhausted",
      attempts: 4,
      dueAt: null,
      endedAt: NOON,
    });
    expect(afterDeliveryAttempt({ attempts: 0 }, failed(), [], NOON, 0.5)).to.include({
      state: "exhausted",
      attempts: 1,
    });
  });

  it("keeps a Retry-After that asks for more, up to a day", () => {
    const due = (retryAfterMs: number): number | null =>
      afterDeliveryAttempt({ attempts: 0 }, failed(retryAfterMs), SCHEDULE, NOON, 0.5).dueAt;
    expect([due(1_000), due(60_000), due(100 * HOUR_MS)]).to.deep.equal([
      NOON + 5_000,
      NOON + 60_000,
      NOON + 24 * HOUR_MS,
    ]);
  });

  it("never tries again earlier than four fifths of the plan", () => {
    const anyAsked = fc.option(fc.integer({ min: 0, max: 200 * HOUR_MS }));
    fc.assert(
      fc.property(
        fc.nat({ max: 2 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        anyAsked,
        (attempts, fraction, asked) => {
          const { state, dueAt } = afterDeliveryAttempt({ attempts }, failed(asked), SCHEDULE, NOON, fraction);
          expect(state).to.equal("pending");
          expect(dueAt).to.be.at.least(NOON + (SCHEDULE[attempts] as number) * 0.8 - 1);
        },
      ),
    );
  });
});

describe("The time that a schedule takes", () => {
  const DAY_MS = 24 * HOUR_MS;

  it("is longer than every way that a schedule may go", () => {
    const schedules = fc.array(fc.integer({ min: 0, max: 20 * DAY_MS }), { maxLength: 20 });
    fc.assert(
      fc.property(
        schedules,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(2 * DAY_MS),
        (schedule, fraction, retryAfterMs) => {
          let at = NOON;
          for (const attempts of schedule.keys()) {
            at = afterDeliveryAttempt({ attempts }, failed(retryAfterMs), schedule, at, fraction).dueAt ?? 0;
          }
          expect(scheduleEndsWithinMs(schedule)).to.be.greaterThan(at - NOON);
        },
      ),
    );
  });
});
