import { expect } from "chai";
import { retentionRules } from "../../../../core/maintenance/retention.js";
import { RETAINED_KINDS } from "../../../../core/ports/growth-store.js";
import { RETENTION } from "../../../support/builders.js";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe("Rules of retention", () => {
  it("are there for every kind, each with its setting", () => {
    const rules = retentionRules(RETENTION, []);
    expect(rules.map(({ kind }) => kind)).to.have.members([...RETAINED_KINDS]);
    expect(rules.find(({ kind }) => kind === "job_requests")).to.include({
      setting: "retention.requestDays",
      keptMs: 365 * DAY_MS,
    });
  });

  it("keep an event as long as its deliveries may take, however short its retention", () => {
    const eventsKept = (scheduleMs: readonly number[]): number | undefined =>
      retentionRules(RETENTION, scheduleMs).find(({ kind }) => kind === "webhook_events")?.keptMs;
    expect(eventsKept([MINUTE_MS])).to.equal(30 * DAY_MS);
    expect(eventsKept([20 * DAY_MS, 20 * DAY_MS])).to.be.above(40 * DAY_MS);
  });
});
