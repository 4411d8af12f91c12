import { expect } from "chai";
import { InsufficientCreditsError } from "../../../../core/errors.js";
import { ProviderFailure } from "../../../../core/ports/music-provider.js";
import { traced, untraced } from "../../../../core/tracing/traced.js";
import { RecordingTracer } from "../../../support/doubles/recording-tracer.js";

describe("Traced work", () => {
  const describeOwn = () => ({ name: "work", parent: null });

  it("runs in a span of its own, and returns what it returns", async () => {
    const tracer = new RecordingTracer(() => 5);
    const result = await traced(tracer, describeOwn, async (span) => {
      expect(tracer.current()).to.equal(span?.context);
      span?.set({ count: 2 });
      return 7;
    });
    expect(result).to.equal(7);
    expect(tracer.ended).to.have.length(1);
    expect(tracer.ended[0]).to.deep.include({ name: "work", hasFailed: false, attributes: { count: 2 }, endedAt: 5 });
  });

  it("only runs without a tracer, and where there is no span that it is a part of", async () => {
    expect(
      await traced(
        null,
        () => expect.fail("It is not described."),
        async (span) => span,
      ),
    ).to.equal(null);
    const tracer = new RecordingTracer();
    expect(
      await traced(
        tracer,
        () => ({ name: "part" }),
        async (span) => span,
      ),
    ).to.equal(null);
    expect(tracer.ended).to.deep.equal([]);
    const whole = tracer.start({ name: "whole", parent: null });
    await tracer.within(whole, () =>
      traced(
        tracer,
        () => ({ name: "part" }),
        async () => 7,
      ),
    );
    expect(tracer.ended.map(({ name, parentId }) => [name, parentId])).to.deep.equal([
      ["part", whole.context.traceparent.slice(36, 52)],
    ]);
  });

  it("fails its span by the kind of the error, never by its message", async () => {
    const errors: readonly (readonly [error: unknown, type: string])[] = [
      [new InsufficientCreditsError({ required: 5, available: 1 }), "insufficient_credits"],
      [new ProviderFailure("content_rejected", "a secret"), "content_rejected"],
      [new RangeError("a secret"), "RangeError"],
      ["a secret", "unknown"],
    ];
    for (const [error, type] of errors) {
      const tracer = new RecordingTracer();
      const failed = await traced(tracer, describeOwn, () => Promise.reject(error as Error)).catch(
        (one: unknown) => one,
      );
      expect(failed).to.equal(error);
      expect(tracer.ended[0]).to.deep.include({ hasFailed: true, attributes: { "error.type": type } });
    }
  });

  it("is no part of the span that happens to run, where it is for several", () => {
    const tracer = new RecordingTracer();
    const running = tracer.start({ name: "one of them", parent: null });
    const inside = tracer.within(running, () => untraced(tracer, () => tracer.current()));
    expect(inside).to.equal(null);
    expect(untraced(null, () => 7)).to.equal(7);
  });
});
