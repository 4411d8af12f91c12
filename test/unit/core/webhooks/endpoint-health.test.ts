import { expect } from "chai";
import type { WebhookFailure } from "../../../../core/ports/webhook-sender.js";
import { afterFailedAttempt, type HealthChange, triesAllowed } from "../../../../core/webhooks/endpoint-health.js";
import { type EndpointHealth, HEALTHY } from "../../../../core/ports/webhook-records.js";
import { anId, NOON } from "../../../support/builders.js";

const HOUR_MS = 3_600_000;
const POLICY = { openMs: 30_000, openMaxMs: 600_000 };
const [FIRST, SECOND] = [anId("evt"), anId("evt")];

describe("The health of a webhook endpoint", () => {
  let health: EndpointHealth;
  beforeEach(() => {
    health = HEALTHY;
  });

  function fail(atHours: number, eventId = FIRST, failure: WebhookFailure = "http_5xx"): HealthChange {
    const change = afterFailedAttempt(health, eventId, failure, POLICY, NOON + atHours * HOUR_MS);
    health = change.health;
    return change;
  }

  it("disables after five days of failures of several events", () => {
    for (let hours = 0; hours < 120; hours += 10)
      expect(fail(hours, hours < 60 ? FIRST : SECOND).disables).to.equal(false);
    expect(fail(119.9).disables).to.equal(false);
    expect(fail(120).disables).to.equal(true);
  });

  it("never disables for one event alone", () => {
    for (let hours = 0; hours <= 200; hours += 10) expect(fail(hours).disables).to.equal(false);
  });

  it("begins again when nothing was tried for longer than the schedule ever waits", () => {
    fail(0, FIRST);
    fail(30, SECOND);
    fail(67, FIRST);
    expect(health.streak).to.include({ firstAt: NOON + 67 * HOUR_MS, severalEvents: false });
    for (let hours = 80; hours <= 180; hours += 20) expect(fail(hours, SECOND).disables).to.equal(false);
    expect(fail(187).disables).to.equal(true);
  });

  it("warns after a day and after three, once each", () => {
    const warnings: [number, number | null][] = [];
    for (let hours = 0; hours <= 100; hours += 12) warnings.push([hours, fail(hours).warnHours]);
    expect(warnings.filter(([, warned]) => warned !== null)).to.deep.equal([
      [24, 24],
      [72, 72],
    ]);
  });

  it("warns of the longer time only when both are over", () => {
    fail(0);
    fail(20);
    health = {
      ...health,
      streak: { ...(health.streak as NonNullable<typeof health.streak>), lastAt: NOON + 70 * HOUR_MS },
    };
    expect(fail(80).warnHours).to.equal(72);
  });

  describe("and its breaker", () => {
    const SECOND_MS = 1 / 3_600;
    const allowed = (atHours: number): number => triesAllowed(health, 5, NOON + atHours * HOUR_MS);

    it("keep tries away after five transport failures in a row, then let one through", () => {
      for (let time = 0; time < 4; time++) fail(0, FIRST, "timeout");
      expect(allowed(0)).to.equal(5);
      fail(0, FIRST, "connect");
      expect(allowed(0)).to.equal(0);
      expect(allowed(29 * SECOND_MS)).to.equal(0);
      expect(allowed(30 * SECOND_MS)).to.equal(1);
    });

    it("stay away twice as long after each try that fails, up to ten minutes", () => {
      let at = 0;
      for (let time = 0; time < 5; time++) fail(at, FIRST, "dns");
      for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
        expect(allowed(at + (seconds - 1) * SECOND_MS), `${seconds} s`).to.equal(0);
        at += seconds * SECOND_MS;
        expect(allowed(at), `${seconds} s`).to.equal(1);
        fail(at, FIRST, "tls");
      }
    });

    it("are not moved by tries that were under way when it opened", () => {
      for (let time = 0; time < 9; time++) fail(0, FIRST, "timeout");
      expect(allowed(30 * SECOND_MS)).to.equal(1);
    });

    for (const failure of ["http_5xx", "http_4xx", "redirect", "gone", "blocked_address"] as const) {
      it(`let everything through again after the response ${failure}: there is a receiver`, () => {
        for (let time = 0; time < 5; time++) fail(0, FIRST, "timeout");
        fail(1, FIRST, failure);
        expect(allowed(1)).to.equal(5);
      });
    }
  });
});
