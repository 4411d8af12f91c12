import { expect } from "chai";
import { MemoryRateLimiter } from "../../../../adapters/rate-limits/memory/rate-limiter.js";
import { type Tier, Tiers } from "../../../../core/accounts/tiers.js";
import { RateLimitedError } from "../../../../core/errors.js";
import { type Allowance, Limits } from "../../../../core/rate-limits/limits.js";
import { anAccount, NO_UPLOADS } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

const MINUTE_MS = 60_000;

function aTier(name: string, perMinute: number, perDay: number): Tier {
  const limit = { perMinute, perDay };
  const rateLimits = { read: limit, generation: { perMinute: 1, perDay: 4 }, write: limit };
  return { name, maxConcurrent: 1, monthlyCredits: 0, rateLimits, uploads: NO_UPLOADS };
}

function setUp(): { readonly limits: Limits; readonly clock: ManualClock } {
  const clock = new ManualClock();
  const tiers = new Tiers([aTier("free", 2, 5), aTier("pro", 10, 100)]);
  return { limits: new Limits({ limiter: new MemoryRateLimiter(clock), tiers, authFailuresPerMinute: 3 }), clock };
}

const free = anAccount({ tier: "free" });
const pro = anAccount({ tier: "pro" });

function remaining({ windows }: Allowance): number[] {
  return windows.map((window) => window.remaining);
}

describe("Limits", () => {
  it("count a request in the minute and the day of its tier", async () => {
    const { limits } = setUp();
    const allowance = await limits.consume(free, "read");
    expect(allowance).to.deep.equal({
      kind: "read",
      windows: [
        { limit: 2, windowSeconds: 60, remaining: 1, resetSeconds: 60 },
        { limit: 5, windowSeconds: 86_400, remaining: 4, resetSeconds: 86_400 },
      ],
      exceeded: null,
    });
    expect(remaining(await limits.consume(pro, "read"))).to.deep.equal([9, 99]);
  });

  it("refuse one too many and do not count it", async () => {
    const { limits, clock } = setUp();
    await limits.consume(free, "read");
    await limits.consume(free, "read");
    await clock.advance(20_500);
    const { exceeded } = await limits.consume(free, "read");
    expect(exceeded).to.be.instanceOf(RateLimitedError);
    expect(exceeded?.details).to.deep.equal({ limit: 2, window_seconds: 60, retry_after_seconds: 40 });
    await clock.advance(MINUTE_MS);
    expect(remaining(await limits.consume(free, "read"))).to.deep.equal([1, 2]);
  });

  it("name the window that stays full the longest", async () => {
    const { limits, clock } = setUp();
    for (const _ of [1, 2, 3, 4, 5]) {
      await limits.consume(free, "read");
      await clock.advance(MINUTE_MS);
    }
    const { exceeded } = await limits.consume(free, "read");
    expect(exceeded?.details).to.deep.equal({ limit: 5, window_seconds: 86_400, retry_after_seconds: 86_400 - 300 });
  });

  it("count kinds and accounts separately", async () => {
    const { limits } = setUp();
    expect((await limits.consume(free, "generation")).exceeded).to.equal(null);
    expect((await limits.consume(free, "generation")).exceeded).to.be.instanceOf(RateLimitedError);
    expect((await limits.consume(free, "read")).exceeded).to.equal(null);
    expect((await limits.consume(anAccount({ tier: "free" }), "generation")).exceeded).to.equal(null);
  });

  it("show the allowance without counting and without an error, even when it is used up", async () => {
    const { limits } = setUp();
    await limits.consume(free, "generation");
    for (const _ of [1, 2]) {
      const allowance = await limits.peek(free, "generation");
      expect([allowance.exceeded, remaining(allowance)]).to.deep.equal([null, [0, 3]]);
    }
  });

  it("take a request back that drew on another allowance", async () => {
    const { limits } = setUp();
    await limits.consume(free, "generation");
    limits.giveBack(free, "generation");
    expect(remaining(await limits.peek(free, "generation"))).to.deep.equal([1, 4]);
    expect((await limits.consume(free, "generation")).exceeded).to.equal(null);
  });

  it("give an account whose tier is gone the first tier's", async () => {
    const { limits } = setUp();
    expect((await limits.peek(anAccount({ tier: "gone" }), "read")).windows.map(({ limit }) => limit)).to.deep.equal([
      2, 5,
    ]);
  });

  it("let an address fail so many times a minute, and other addresses as well", async () => {
    const { limits, clock } = setUp();
    expect(await failures(limits, ["192.0.2.1", "192.0.2.1", "192.0.2.1"])).to.deep.equal([null, null, null]);
    const refused = (await failures(limits, ["192.0.2.1"]))[0];
    expect(refused).to.be.instanceOf(RateLimitedError);
    expect((refused as RateLimitedError).details).to.deep.equal({
      limit: 3,
      window_seconds: 60,
      retry_after_seconds: 60,
    });
    expect(await failures(limits, ["192.0.2.2"])).to.deep.equal([null]);
    await clock.advance(MINUTE_MS);
    expect(await failures(limits, ["192.0.2.1"])).to.deep.equal([null]);
  });

  it("take all addresses of an IPv6 network for one, and each way to write an IPv4 address", async () => {
    const { limits } = setUp();
    const network = ["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8::1:ffff:0:0:3", "2001:db8:0:1:4::"];
    expect((await failures(limits, network)).map((error) => error === null)).to.deep.equal([true, true, true, false]);
    expect(await failures(limits, ["2001:db8:0:2::1"])).to.deep.equal([null]);
    const spellings = ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201", "192.0.2.1"];
    expect((await failures(limits, spellings)).map((error) => error === null)).to.deep.equal([true, true, true, false]);
  });
});

/** What came of each of these failures, one after another; null where it was counted. */
async function failures(limits: Limits, addresses: readonly string[]): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const address of addresses) {
    errors.push(
      await limits.countAuthFailure(address).then(
        () => null,
        (error: unknown) => error,
      ),
    );
  }
  return errors;
}
