import { expect } from "chai";
import { assert } from "../../../../core/assert.js";
import { pollOf } from "../../../../core/execution/poll-together.js";
import {
  type CallContext,
  type MusicProvider,
  ProviderFailure,
  type ProviderHandle,
  type Snapshot,
} from "../../../../core/ports/music-provider.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

const RUNNING: Snapshot = { state: "running", nextPollMs: 1 };
const handleOf = (task: string): ProviderHandle => ({ version: 1, data: { task } });
const context = (): CallContext => ({ signal: new AbortController().signal });

/** Polls many at once, and responds when the test says so. */
class Batches {
  readonly asked: string[][] = [];
  readonly signals: AbortSignal[] = [];
  private responses: (() => void)[] = [];

  constructor(private readonly responseOf: (task: string) => Snapshot | ProviderFailure) {}

  readonly provider: MusicProvider = {
    submit: () => Promise.reject(new Error("not asked for here")),
    pollMany: (handles, { signal }) => {
      const tasks = handles.map(({ data }) => String(data["task"]));
      this.asked.push(tasks);
      this.signals.push(signal);
      return new Promise((resolve) => this.responses.push(() => resolve(tasks.map(this.responseOf))));
    },
  };

  response(): void {
    this.responses.shift()?.();
  }
}

function polling(provider: MusicProvider): NonNullable<MusicProvider["poll"]> {
  const poll = pollOf(provider, new ManualClock(), null);
  assert(poll !== null, "it can be asked");
  return poll;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("pollOf", () => {
  it("polls with one request at a time, which includes all handles that have become due meanwhile", async () => {
    const batches = new Batches((task) =>
      task === "3" ? new ProviderFailure("gone", "no such task") : { ...RUNNING, nextPollMs: Number(task) },
    );
    const poll = polling(batches.provider);
    const first = poll(handleOf("1"), context());
    await turn();
    const others = ["2", "3", "4"].map((task) => poll(handleOf(task), context()).catch((error: unknown) => error));
    await turn();
    expect(batches.asked).to.deep.equal([["1"]]);
    batches.response();
    expect(await first).to.deep.equal({ ...RUNNING, nextPollMs: 1 });
    await turn();
    expect(batches.asked).to.deep.equal([["1"], ["2", "3", "4"]]);
    batches.response();
    const [two, three, four] = await Promise.all(others);
    expect([two, four]).to.deep.equal([
      { ...RUNNING, nextPollMs: 2 },
      { ...RUNNING, nextPollMs: 4 },
    ]);
    expect(three).to.be.instanceOf(ProviderFailure).with.property("kind", "gone");
  });

  it("fails every poll of a group when its request fails, without polling one by one", async () => {
    let asked = 0;
    const failing = (error: Error): MusicProvider => ({
      submit: () => Promise.reject(error),
      pollMany: () => {
        asked += 1;
        return Promise.reject(error);
      },
    });
    for (const [error, kind] of [
      [new ProviderFailure("rate_limited", "slow down"), "rate_limited"],
      [new TypeError("a bug"), "unavailable"],
    ] as const) {
      asked = 0;
      const poll = polling(failing(error));
      const outcomes = await Promise.all(
        ["1", "2", "3"].map((task) => poll(handleOf(task), context()).catch((caught: unknown) => caught)),
      );
      expect(outcomes.map((outcome) => (outcome as ProviderFailure).kind)).to.deep.equal([kind, kind, kind]);
      expect(asked).to.equal(1);
    }
  });

  it("aborts a request only when no poll of its group waits any more", async () => {
    const batches = new Batches(() => RUNNING);
    const poll = polling(batches.provider);
    const [one, two] = [new AbortController(), new AbortController()];
    const polls = [poll(handleOf("1"), { signal: one.signal }), poll(handleOf("2"), { signal: two.signal })];
    await turn();
    one.abort();
    expect(batches.signals[0]?.aborted).to.equal(false);
    two.abort();
    expect(batches.signals[0]?.aborted).to.equal(true);
    batches.response();
    await Promise.all(polls);
  });

  it("asks one by one where the provider can do no more, and nothing where it cannot even that", async () => {
    const poll = polling({ submit: () => Promise.reject(new Error("no")), poll: () => Promise.resolve(RUNNING) });
    expect(await poll(handleOf("1"), context())).to.equal(RUNNING);
    expect(pollOf({ submit: () => Promise.reject(new Error("no")) }, new ManualClock(), null)).to.equal(null);
  });
});
