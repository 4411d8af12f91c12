import { expect } from "chai";
import fc from "fast-check";
import {
  afterFailure,
  afterSuccess,
  beginTrial,
  breakerState,
  healthyProvider,
} from "../../../../core/providers/circuit-breaker.js";
import type { ProviderHealth } from "../../../../core/ports/provider-health-store.js";
import { NOON } from "../../../support/builders.js";

const POLICY = { failures: 3, openMs: 30_000 };

function failing(times: number, now = NOON): ProviderHealth {
  let health = healthyProvider("synth");
  for (let time = 0; time < times; time++) health = afterFailure(health, POLICY, now);
  return health;
}

describe("The circuit breaker", () => {
  it("stays closed below the limit and opens at it", () => {
    expect(breakerState(failing(0), POLICY, NOON)).to.equal("closed");
    expect(breakerState(failing(2), POLICY, NOON)).to.equal("closed");
    expect(breakerState(failing(3), POLICY, NOON)).to.equal("open");
  });

  it("counts failures in a row only", () => {
    const health = afterFailure(afterSuccess(failing(2)), POLICY, NOON);
    expect(health).to.deep.equal({ providerId: "synth", failures: 1, openedAt: null, trialUntil: null });
  });

  it("is half-open from the end of its time on", () => {
    const health = failing(3);
    expect(breakerState(health, POLICY, NOON + 29_999)).to.equal("open");
    expect(breakerState(health, POLICY, NOON + 30_000)).to.equal("half_open");
    expect(breakerState(health, POLICY, NOON + 86_400_000)).to.equal("half_open");
  });

  it("is closed by the first success of a half-open try", () => {
    expect(afterSuccess(failing(3))).to.deep.equal(healthyProvider("synth"));
  });

  it("is opened again by the failure of a half-open try", () => {
    const health = afterFailure(failing(3), POLICY, NOON + 30_000);
    expect(health.openedAt).to.equal(NOON + 30_000);
    expect(breakerState(health, POLICY, NOON + 59_999)).to.equal("open");
  });

  it("stays open no longer for failures that come while it is open", () => {
    expect(afterFailure(failing(3), POLICY, NOON + 29_999).openedAt).to.equal(NOON);
  });

  it("opens at once with a limit of one", () => {
    const policy = { failures: 1, openMs: 10 };
    expect(breakerState(afterFailure(healthyProvider("synth"), policy, NOON), policy, NOON)).to.equal("open");
  });

  it("lets one try through while it is half-open, and another when that one was lost", () => {
    expect(beginTrial(healthyProvider("synth"), POLICY, NOON)).to.equal(null);
    const open = failing(3);
    expect(beginTrial(open, POLICY, NOON + 29_999)).to.equal(null);
    const trying = beginTrial(open, POLICY, NOON + 30_000);
    expect(trying).to.deep.equal({ ...open, trialUntil: NOON + 60_000 });
    expect(beginTrial(trying as ProviderHealth, POLICY, NOON + 59_999)).to.equal(null);
    expect(beginTrial(trying as ProviderHealth, POLICY, NOON + 60_000)).to.deep.equal({
      ...open,
      trialUntil: NOON + 90_000,
    });
  });

  it("ends the try with its outcome", () => {
    const trying = beginTrial(failing(3), POLICY, NOON + 30_000) as ProviderHealth;
    expect(afterSuccess(trying)).to.deep.equal(healthyProvider("synth"));
    expect(afterFailure(trying, POLICY, NOON + 31_000)).to.include({ openedAt: NOON + 31_000, trialUntil: null });
  });

  describe("as a model", () => {
    /** The breaker as the textbooks draw it: states with arrows, and a timer. */
    class Model {
      state: "closed" | "open" | "half_open" = "closed";
      private inARow = 0;
      private openUntil = 0;

      constructor(
        private readonly limit: number,
        private readonly openMs: number,
      ) {}

      pass(now: number): void {
        if (this.state === "open" && now >= this.openUntil) this.state = "half_open";
      }

      fail(now: number): void {
        this.inARow++;
        if (this.state === "half_open" || (this.state === "closed" && this.inARow >= this.limit)) {
          this.state = "open";
          this.openUntil = now + this.openMs;
        }
      }

      succeed(): void {
        this.state = "closed";
        this.inARow = 0;
      }
    }

    it("agrees with a machine of three states after every event", () => {
      const anyEvent = fc.oneof(
        fc.constant({ kind: "fail" as const }),
        fc.constant({ kind: "succeed" as const }),
        fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 120 }) }),
      );
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 5 }),
          fc.integer({ min: 1, max: 200 }),
          fc.array(anyEvent, { maxLength: 40 }),
          (failures, openMs, events) => {
            const policy = { failures, openMs };
            const model = new Model(failures, openMs);
            let health = healthyProvider("synth");
            let now = NOON;
            for (const event of events) {
              if (event.kind === "pass") now += event.ms;
              else health = event.kind === "fail" ? afterFailure(health, policy, now) : afterSuccess(health);
              if (event.kind === "fail") model.fail(now);
              if (event.kind === "succeed") model.succeed();
              model.pass(now);
              expect(breakerState(health, policy, now)).to.equal(model.state);
            }
          },
        ),
      );
    });
  });
});
