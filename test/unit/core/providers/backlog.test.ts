import { expect } from "chai";
import type { ProviderWork } from "../../../../core/ports/job-store.js";
import { Backlog } from "../../../../core/providers/backlog.js";
import type { Route } from "../../../../core/providers/routes.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

const DEADLINE_MS = 60_000;
const USUAL_MS = 10_000;

const route = (providerId: string): Route => ({
  providerId,
  servedModelId: `${providerId}/song`,
  operation: `music_${providerId}_full`,
});
const NOTHING: ProviderWork = { waiting: 0, submitting: 0, rendering: 0 };

interface Given {
  readonly work: Partial<ProviderWork>;
  readonly slots?: number | null;
  readonly usualMs?: number | null;
}

describe("Backlog", () => {
  let clock: ManualClock;
  let reads: number;
  beforeEach(() => {
    clock = new ManualClock();
    reads = 0;
  });

  function backlogOf(given: Readonly<Record<string, Given>>): Backlog {
    return new Backlog({
      clock,
      queueDeadlineMs: DEADLINE_MS,
      jobs: {
        countWork: (providerId) => {
          reads += 1;
          return Promise.resolve({ ...NOTHING, ...given[providerId]?.work });
        },
      },
      catalogue: {
        providers: Object.entries(given).map(([id, { slots = null }]) => ({
          id,
          label: id,
          enabled: true,
          models: [],
          isReachable: true,
          maxInFlight: slots,
        })),
      },
      renderTimes: {
        usualMs: (id) => Promise.resolve(given[id]?.usualMs === undefined ? USUAL_MS : given[id].usualMs),
      },
    });
  }

  const CASES: readonly (readonly [string, Given, "accepts" | number])[] = [
    ["a free slot", { slots: 2, work: { rendering: 1, waiting: 0 } }, "accepts"],
    ["a render that ends in time", { slots: 1, work: { rendering: 1 } }, "accepts"],
    ["as many renders before it as end by the deadline", { slots: 1, work: { rendering: 1, waiting: 5 } }, "accepts"],
    ["one render more", { slots: 1, work: { rendering: 1, waiting: 6 } }, 10_000],
    ["many slots for many jobs", { slots: 10, work: { rendering: 10, waiting: 50 } }, "accepts"],
    ["more than many slots render by then", { slots: 10, work: { rendering: 10, waiting: 100 } }, 41_000],
    ["no known render time", { slots: 1, work: { rendering: 1, waiting: 500 }, usualMs: null }, "accepts"],
    [
      "slots that are not limited, and accepted work",
      { work: { submitting: 1, rendering: 900, waiting: 900 } },
      "accepts",
    ],
    ["a provider that renders within its calls, and is behind", { work: { submitting: 2, waiting: 100 } }, 445_000],
    ["a provider that renders within its calls, and keeps up", { work: { submitting: 2, waiting: 9 } }, "accepts"],
    ["nothing under way, as before the first worker is there", { work: { waiting: 900 } }, "accepts"],
  ];
  for (const [what, given, expected] of CASES) {
    it(`${expected === "accepts" ? "lets a job in" : "keeps a job out"} with ${what}`, async () => {
      const found = await backlogOf({ one: given }).firstInTime([route("one")]);
      expect(found).to.deep.equal(expected === "accepts" ? { route: route("one") } : { waitMs: expected });
    });
  }

  it("takes the first route that can begin in time, and else says when the soonest one can", async () => {
    const full = { slots: 1, work: { waiting: 9, rendering: 1 } };
    const fuller = { slots: 1, work: { waiting: 90, rendering: 1 } };
    const routes = [route("one"), route("other")];
    expect(await backlogOf({ one: full, other: { work: {} } }).firstInTime(routes)).to.deep.equal({
      route: route("other"),
    });
    expect(await backlogOf({ one: fuller, other: full }).firstInTime(routes)).to.deep.equal({ waitMs: 40_000 });
  });

  it("reads the storage once a second", async () => {
    const backlog = backlogOf({ one: { slots: 1, work: {} } });
    await Promise.all([backlog.firstInTime([route("one")]), backlog.firstInTime([route("one")])]);
    expect(reads).to.equal(1);
    await clock.advance(1_000);
    await backlog.firstInTime([route("one")]);
    expect(reads).to.equal(2);
  });
});
