import { expect } from "chai";
import { parseTraceContext, spanIdOf, traceIdOf } from "../../../../core/tracing/trace-context.js";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const PARENT = `00-${TRACE}-${SPAN}-01`;

describe("parseTraceContext", () => {
  it("reads the headers of W3C Trace Context", () => {
    const context = parseTraceContext(PARENT, "congo=t61rcWkgMzE,tenant@vendor=a b");
    expect(context).to.deep.equal({ traceparent: PARENT, tracestate: "congo=t61rcWkgMzE,tenant@vendor=a b" });
    expect(context === null ? [] : [traceIdOf(context), spanIdOf(context)]).to.deep.equal([TRACE, SPAN]);
  });

  it("reads later versions as far as it knows them, and keeps the one flag that it knows", () => {
    expect(parseTraceContext(`cc-${TRACE}-${SPAN}-03-what.comes.later`, undefined)?.traceparent).to.equal(PARENT);
    expect(parseTraceContext(`00-${TRACE}-${SPAN}-fe`, undefined)?.traceparent).to.equal(`00-${TRACE}-${SPAN}-00`);
  });

  for (const [what, traceparent] of [
    ["nothing", undefined],
    ["an empty text", ""],
    ["several headers", `${PARENT}, ${PARENT}`],
    ["more than version 00 has", `${PARENT}-01`],
    ["the version that is none", `ff-${TRACE}-${SPAN}-01`],
    ["a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["a span id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["upper case", PARENT.toUpperCase()],
    ["a trace id that is too short", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["other letters", `00-${TRACE.replace("4", "g")}-${SPAN}-01`],
    ["a list", [PARENT]],
  ] as const) {
    it(`ignores ${what}`, () => {
      expect(parseTraceContext(traceparent, "a=b")).to.equal(null);
    });
  }

  for (const [what, tracestate] of [
    ["nothing", undefined],
    ["an empty list", " , "],
    ["a member without a value", "congo"],
    ["a key in upper case", "Congo=1"],
    ["a line break", "congo=1\r\nx: y"],
    ["letters beyond ASCII", "congo=é"],
    ["more members than it may have", Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(",")],
    ["more characters than it may have", `k=${"v".repeat(512)}`],
  ] as const) {
    it(`leaves out a tracestate of ${what}`, () => {
      expect(parseTraceContext(PARENT, tracestate)).to.deep.equal({ traceparent: PARENT, tracestate: null });
    });
  }
});
