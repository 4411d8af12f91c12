import { expect } from "chai";
import { foreignHandle, handleCodec, isLostReply, ProviderFailure } from "../../../../plugins/sdk/index.js";

describe("handleCodec", () => {
  const codec = handleCodec(2, ({ taskId, operation }) =>
    typeof taskId === "string" && operation === "music" ? { taskId, operation } : null,
  );

  it("reads what it wrote, also after storage as JSON", () => {
    const handle = codec.write({ taskId: "t1", operation: "music" });
    expect(handle).to.deep.equal({ version: 2, data: { taskId: "t1", operation: "music" } });
    expect(codec.read(JSON.parse(JSON.stringify(handle)) as typeof handle)).to.deep.equal({
      taskId: "t1",
      operation: "music",
    });
  });

  for (const [what, handle] of [
    ["of another version", { version: 1, data: { taskId: "t1", operation: "music" } }],
    ["without a member", { version: 2, data: { operation: "music" } }],
    ["with a member of another type", { version: 2, data: { taskId: 7, operation: "music" } }],
    ["of a lost reply", { version: 0, data: {} }],
  ] as const) {
    it(`fails by one clear failure for a handle ${what}`, () => {
      expect(codec.parse(handle)).to.equal(null);
      let thrown: unknown;
      try {
        codec.read(handle);
      } catch (error) {
        thrown = error;
      }
      expect(ProviderFailure.is(thrown)).to.equal(true);
      const { kind, message } = thrown as ProviderFailure;
      expect([kind, message]).to.deep.equal(["failed", "The stored handle was not written by this plugin."]);
      expect([foreignHandle().kind, foreignHandle().message]).to.deep.equal([kind, message]);
    });
  }

  it("distinguishes the handle of a lost reply from a stored one", () => {
    expect([
      isLostReply({ version: 0, data: {} }),
      isLostReply(codec.write({ taskId: "t1", operation: "music" })),
    ]).to.deep.equal([true, false]);
  });
});
