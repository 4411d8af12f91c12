import { Sandbox } from "../../support/process.js";
import { aSeed, SeededRandom } from "../../support/chaos/seeded-random.js";
import { withSeedInError } from "../../support/chaos/chaos.js";
import { databaseOutage } from "./database-outage.js";
import { downtime } from "./downtime.js";
import { drain } from "./drain.js";
import { lateAcceptance } from "./late-acceptance.js";
import { lostCommits } from "./lost-commits.js";
import { lostReply } from "./lost-reply.js";
import { oddReplies } from "./odd-replies.js";
import { overload } from "./overload.js";
import type { Scenario } from "./scenario.js";
import type { Timing } from "./timing.js";

/** Those of a group run at the same time: they wait most of it. */
const GROUPS: readonly (readonly Scenario[])[] = [
  [overload(1.25), overload(2)],
  [downtime, drain],
  [lostCommits],
  [databaseOutage],
  [lateAcceptance],
  [lostReply, oddReplies],
];

/** Longer than the longest takes on a busy machine. */
const TIMEOUT_MS = 180_000;

interface Run {
  readonly sandbox: Sandbox;
  readonly ended: Promise<void>;
}

/** Defines a test for each scenario, or several with these titles. */
export function defineTests(timingOf: (random: SeededRandom) => Timing, titles: readonly string[] = [""]): void {
  for (const group of GROUPS) for (const title of titles) defineGroup(group, timingOf, title);
}

function defineGroup(group: readonly Scenario[], timingOf: (random: SeededRandom) => Timing, title: string): void {
  describe(`${group.map(({ name }) => name).join(", ")}${title}`, function () {
    this.timeout(TIMEOUT_MS);
    let runs: readonly Run[] = [];

    before(() => {
      runs = group.map((scenario) => begin(scenario, timingOf));
    });

    after(() => Promise.all(runs.map(({ sandbox }) => sandbox.clear())));

    for (const [index, { promise }] of group.entries()) {
      it(promise, async () => {
        await runs[index]?.ended;
      });
    }
  });
}

function begin(scenario: Scenario, timingOf: (random: SeededRandom) => Timing): Run {
  const [sandbox, seed] = [new Sandbox(), aSeed()];
  const ended = withSeedInError(seed, () => scenario.run(sandbox, timingOf(new SeededRandom(seed))));
  // Its test gets the failure when its turn comes.
  ended.catch(() => undefined);
  return { sandbox, ended };
}
