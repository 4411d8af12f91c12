import { expect } from "chai";
import type { CountedCall } from "../../../../core/ports/metrics.js";
import { callPlugin, PluginCallError } from "../../../../core/execution/call-plugin.js";
import { type CallContext, ProviderFailure } from "../../../../core/ports/music-provider.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const LIMIT_MS = 60_000;
const OBEY_MS = 5_000;

/** A call that a test ends; it knows whether it was aborted, and obeys no abort. */
class HeldCall<Result> {
  context: CallContext | null = null;
  end: (result: Result) => void = () => undefined;
  fail: (error: unknown) => void = () => undefined;
  readonly invoke = (context: CallContext): Promise<Result> => {
    this.context = context;
    return new Promise((resolve, reject) => {
      this.end = resolve;
      this.fail = reject;
    });
  };
}

/** Ends as soon as its signal aborts, with the reason. */
function obedient({ signal }: CallContext): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error(`aborted: ${String(signal.reason)}`)), { once: true });
  });
}

describe("callPlugin", () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let stop: AbortController;
  let late: unknown[];
  /** The error and the seconds of each call. */
  let counted: (readonly [string | null, number])[];
  beforeEach(() => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    stop = new AbortController();
    late = [];
    counted = [];
  });

  function call<Result>(invoke: (context: CallContext) => Promise<Result>): Promise<Result | Error> {
    const plugin = { providerId: "nightingale", name: "warmUp", limitMs: LIMIT_MS };
    const metrics = {
      countProviderCall: ({ error }: CountedCall, seconds: number) => void counted.push([error, seconds]),
    };
    const details = { ...plugin, signal: stop.signal, clock, logger, metrics };
    return callPlugin(details, invoke, (result) => late.push(result)).catch((error: unknown) => error as Error);
  }

  it("returns what the plugin returns, and leaves no timer", async () => {
    expect(await call(() => Promise.resolve("a handle"))).to.equal("a handle");
    expect([clock.sleeping, late, logger.lines]).to.deep.equal([0, [], []]);
  });

  it("throws what the plugin throws, also before its first wait", async () => {
    const [rejected, thrown] = [new Error("rejected"), new Error("thrown")];
    expect(await call(() => Promise.reject(rejected))).to.equal(rejected);
    expect(
      await call(() => {
        throw thrown;
      }),
    ).to.equal(thrown);
    expect([clock.sleeping, logger.lines]).to.deep.equal([0, []]);
  });

  it("aborts the plugin at the limit", async () => {
    const ended = call(obedient);
    await clock.advance(LIMIT_MS - 1);
    expect(clock.sleeping).to.equal(1);
    await clock.advance(1);
    expect(await ended).to.have.property("message", "aborted: call_limit");
  });

  it("passes an abort on with its reason", async () => {
    const ended = call(obedient);
    await clock.advance(0);
    stop.abort("stopping");
    expect(await ended).to.have.property("message", "aborted: stopping");
  });

  it("calls the plugin with an aborted signal when it is aborted before", async () => {
    stop.abort("stopping");
    const seen = await call(({ signal }) => Promise.resolve([signal.aborted, signal.reason]));
    expect(seen).to.deep.equal([true, "stopping"]);
  });

  it("returns a result that comes while the plugin is aborted", async () => {
    const held = new HeldCall<string>();
    const ended = call(held.invoke);
    await clock.advance(LIMIT_MS + OBEY_MS - 1);
    expect(held.context?.signal.aborted).to.equal(true);
    held.end("just in time");
    expect([await ended, late]).to.deep.equal(["just in time", []]);
  });

  for (const [how, begin] of [
    ["at the limit", (): Promise<void> => clock.advance(LIMIT_MS)],
    ["after an abort", async (): Promise<void> => stop.abort("lease_lost")],
  ] as const) {
    it(`leaves a plugin alone that ignores its signal ${how}, and names it`, async () => {
      const held = new HeldCall<string>();
      const ended = call(held.invoke);
      await clock.advance(0);
      await begin();
      await clock.advance(OBEY_MS);
      const error = await ended;
      expect(error)
        .to.be.instanceOf(PluginCallError)
        .with.property("message")
        .that.matches(/nightingale.*warmUp/);
      const logged = logger.lines.map(({ level, fields }) => [level, fields["provider"], fields["call"]]);
      expect(logged).to.deep.equal([["error", "nightingale", "warmUp"]]);
      expect(clock.sleeping).to.equal(0);
    });
  }

  it("passes on what a plugin that was left alone returns in the end", async () => {
    const held = new HeldCall<string>();
    const ended = call(held.invoke);
    await clock.advance(LIMIT_MS + OBEY_MS);
    expect(await ended).to.be.instanceOf(PluginCallError);
    held.end("a late handle");
    await clock.advance(0);
    expect(late).to.deep.equal(["a late handle"]);
  });

  it("logs what a plugin that was left alone throws in the end", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const held = new HeldCall<string>();
      const ended = call(held.invoke);
      await clock.advance(LIMIT_MS + OBEY_MS);
      await ended;
      held.fail(new Error("reset by peer"));
      await clock.advance(0);
      await clock.advance(0);
      expect([late, unhandled]).to.deep.equal([[], []]);
      const logged = { level: "warn", message: "An abandoned plugin call failed" };
      expect(logger.lines.at(-1)).to.deep.include(logged);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  it("counts each call with how long it took and, when it failed, with the kind of its failure", async () => {
    await call(() => Promise.resolve("a handle"));
    await call(() => Promise.reject(new ProviderFailure("rate_limited", "slower")));
    await call(() => Promise.reject(new Error("a bug")));
    const hung = call(new HeldCall<string>().invoke);
    await clock.advance(LIMIT_MS);
    await clock.advance(OBEY_MS);
    await hung;
    const obeys = call(obedient);
    await clock.advance(500);
    stop.abort("lease_lost");
    await obeys;
    expect(counted).to.deep.equal([
      [null, 0],
      ["rate_limited", 0],
      ["crashed", 0],
      ["hung", (LIMIT_MS + OBEY_MS) / 1000],
      ["aborted", 0.5],
    ]);
  });
});
