import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { Tracer } from "../../core/ports/tracer.js";
import { parseTraceContext, spanIdOf, traceIdOf } from "../../core/tracing/trace-context.js";
import type { EndedSpan } from "../support/doubles/recording-tracer.js";

/** A tracer that records every trace that begins in it, and what it has recorded. */
export interface TracerUnderTest {
  readonly tracer: Tracer;
  /** The spans that have ended, in any order; called once, at the end of a test. */
  ended(): Promise<readonly EndedSpan[]>;
}

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const RECORDED = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE" };

/**
 * The promises of every `Tracer`.
 *
 * @param open called by each test
 */
export function tracerContract(name: string, open: () => Promise<TracerUnderTest>): void {
  describe(`Tracer contract: ${name}`, () => {
    it("begins a trace where nothing runs, and names it as W3C Trace Context does", async () => {
      const { tracer, ended } = await open();
      const span = tracer.start({ name: "create job", kind: "producer" });
      const { context } = span;
      span.end();
      expect(parseTraceContext(context.traceparent, context.tracestate)).to.deep.equal(context);
      expect(context).to.include({ tracestate: null }).and.to.have.property("traceparent").that.matches(/-01$/);
      const [one, ...others] = await ended();
      expect(others).to.have.length(0);
      expect(one).to.include({ name: "create job", kind: "producer", parentId: null, hasFailed: false });
      expect([one?.traceId, one?.spanId]).to.deep.equal([traceIdOf(context), spanIdOf(context)]);
    });

    it("goes on with the trace of a parent elsewhere, and passes on what others keep in it", async () => {
      const { tracer, ended } = await open();
      const span = tracer.start({ name: "process job", kind: "consumer", parent: RECORDED });
      const inner = tracer.within(span, () => tracer.start({ name: "submit synth", kind: "client" }));
      inner.end();
      span.end();
      expect([span.context.tracestate, inner.context.tracestate]).to.deep.equal(Array(2).fill(RECORDED.tracestate));
      const spans = await ended();
      expect(spans.map(({ traceId }) => traceId)).to.deep.equal([TRACE, TRACE]);
      expect(spans.find(({ kind }) => kind === "consumer")?.parentId).to.equal(SPAN);
      expect(spans.find(({ kind }) => kind === "client")?.parentId).to.equal(spanIdOf(span.context));
    });

    it("records nothing of a trace that its caller does not record, and passes its ids on", async () => {
      const { tracer, ended } = await open();
      const span = tracer.start({
        name: "POST",
        kind: "server",
        parent: { traceparent: `00-${TRACE}-${SPAN}-00`, tracestate: null },
      });
      const inner = tracer.within(span, () => tracer.start({ name: "create job" }));
      inner.end();
      span.end();
      for (const { context } of [span, inner]) {
        expect(traceIdOf(context)).to.equal(TRACE);
        expect(context.traceparent).to.match(/-00$/);
      }
      expect(await ended()).to.deep.equal([]);
    });

    it("knows the running span through everything that is waited for, and of each work its own", async () => {
      const { tracer, ended } = await open();
      const runs = ["one", "two"].map((name) => {
        const span = tracer.start({ name });
        return tracer.within(span, async () => {
          await nextTurn();
          expect(tracer.current()).to.deep.equal(span.context);
          await tracer.within(null, async () => {
            await nextTurn();
            expect(tracer.current()).to.equal(null);
          });
          tracer.start({ name: `in ${name}` }).end();
          span.end();
        });
      });
      expect(tracer.current()).to.equal(null);
      await Promise.all(runs);
      const spans = await ended();
      for (const name of ["one", "two"]) {
        const inner = spans.find((span) => span.name === `in ${name}`);
        expect(inner?.parentId).to.equal(spans.find((span) => span.name === name)?.spanId);
      }
    });

    it("begins a trace of its own where the parent is null, or none of the standard", async () => {
      const { tracer, ended } = await open();
      const outer = tracer.start({ name: "outer" });
      tracer.within(outer, () => {
        tracer.start({ name: "own", parent: null }).end();
        tracer.start({ name: "own", parent: { traceparent: "00-nonsense", tracestate: null } }).end();
      });
      outer.end();
      const spans = await ended();
      expect(new Set(spans.map(({ traceId }) => traceId))).to.have.property("size", 3);
      expect(spans.map(({ parentId }) => parentId)).to.deep.equal([null, null, null]);
    });

    it("shows attributes as they were last set, without those that are null", async () => {
      const { tracer, ended } = await open();
      const span = tracer.start({ name: "POST", attributes: { route: null, status: 100, "fermata.job.id": "job_1" } });
      span.set({ status: 202, replayed: true, account: null });
      span.rename("POST /api/v1/generations");
      span.end();
      const [one] = await ended();
      expect(one?.name).to.equal("POST /api/v1/generations");
      expect(one?.attributes).to.deep.equal({ status: 202, replayed: true, "fermata.job.id": "job_1" });
    });

    it("shows that work failed, by a closed word", async () => {
      const { tracer, ended } = await open();
      const span = tracer.start({ name: "submit synth" });
      span.fail("timeout");
      span.end();
      const [one] = await ended();
      expect(one).to.include({ hasFailed: true });
      expect(one?.attributes).to.deep.equal({ "error.type": "timeout" });
    });

    it("links spans without making one a part of the other", async () => {
      const { tracer, ended } = await open();
      tracer.start({ name: "retry job", links: [RECORDED, { traceparent: "00-nonsense", tracestate: null }] }).end();
      const [one] = await ended();
      expect(one).to.include({ parentId: null }).and.to.have.deep.property("links").that.includes(SPAN);
      expect(one?.traceId).to.not.equal(TRACE);
    });

    it("ends once, and takes the times of work that is over already", async () => {
      const { tracer, ended } = await open();
      const startedAt = Date.UTC(2020, 1, 1);
      const span = tracer.start({ name: "wait in queue", startedAt });
      span.end(startedAt + 1_500);
      span.end(startedAt + 9_000);
      span.set({ late: true });
      // No span ends before it starts, whatever clocks say.
      tracer.start({ name: "attempt", startedAt }).end(startedAt - 5);
      const spans = await ended();
      expect(spans).to.have.length(2);
      expect(spans.find(({ name }) => name === "wait in queue")).to.deep.include({
        startedAt,
        endedAt: startedAt + 1_500,
        attributes: {},
      });
      expect(spans.find(({ name }) => name === "attempt")).to.include({ startedAt, endedAt: startedAt });
    });

    it("shows nothing of a span that has not ended", async () => {
      const { tracer, ended } = await open();
      tracer.start({ name: "never ends" });
      tracer.start({ name: "ends" }).end();
      expect((await ended()).map(({ name }) => name)).to.deep.equal(["ends"]);
    });

    it("returns and throws what the work does", async () => {
      const { tracer } = await open();
      const span = tracer.start({ name: "work" });
      expect(tracer.within(span, () => 7)).to.equal(7);
      const broken = new Error("broken");
      expect(() =>
        tracer.within(span, () => {
          throw broken;
        }),
      ).to.throw(broken);
      const error = await tracer.within(span, () => Promise.reject(broken)).catch((reason: unknown) => reason);
      expect(error).to.equal(broken);
    });
  });
}
