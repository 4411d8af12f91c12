import { expect } from "chai";
import { PluginCallError } from "../../../../core/execution/call-plugin.js";
import { failureOfCall } from "../../../../core/execution/plugin-crash.js";
import { ProviderFailure } from "../../../../core/ports/music-provider.js";

const WORKING = { id: "nightjar", masked: (text: string) => text.replaceAll("k-secret", "[redacted]") };

function messageOf(error: unknown): string {
  const failure = failureOfCall(WORKING, "submit", "outcome_unknown", error);
  expect([failure.kind, failure.cause]).to.deep.equal(["outcome_unknown", error]);
  return failure.message;
}

describe("What a plugin's call threw", () => {
  it("is its own failure where it is one of the port's", () => {
    const failure = new ProviderFailure("unavailable", "not now");
    expect(failureOfCall(WORKING, "submit", "outcome_unknown", failure)).to.equal(failure);
  });

  it("is named with the plugin, the call and its text", () => {
    expect(messageOf(new TypeError("x is not a function"))).to.equal(
      "The plugin nightjar failed in the call submit: TypeError: x is not a function.",
    );
    expect(messageOf(new RangeError())).to.equal("The plugin nightjar failed in the call submit: RangeError.");
  });

  it("is named also where it is no error, or cannot be read", () => {
    expect(messageOf("it broke")).to.equal(
      'The plugin nightjar failed in the call submit: it threw the text "it broke".',
    );
    expect(messageOf(undefined)).to.equal("The plugin nightjar failed in the call submit: it threw undefined.");
    const trap = Object.defineProperty(new Error(), "message", {
      get: () => {
        throw new Error("gotcha");
      },
    });
    expect(messageOf(trap)).to.equal("The plugin nightjar failed in the call submit: what it threw cannot be read.");
  });

  it("says of a call that did not end how long it had", () => {
    const words = "The plugin nightjar did not end the call submit within 32000 ms, and ignores its signal.";
    expect(messageOf(new PluginCallError(words))).to.equal(words);
  });

  it("has no secret of the plugin's settings, and is not longer than other messages", () => {
    expect(messageOf(new TypeError('"Bearer k-secret" is an invalid header value'))).to.equal(
      'The plugin nightjar failed in the call submit: TypeError: "Bearer [redacted]" is an invalid header value.',
    );
    expect(messageOf(new Error("x".repeat(5_000)))).to.have.length(1_000);
  });
});
