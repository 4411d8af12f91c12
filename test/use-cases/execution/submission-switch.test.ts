import { expect } from "chai";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

describe("The switch of submissions", () => {
  let memory: MemoryCore;
  beforeEach(async () => {
    memory = await memoryCore();
  });

  const recorded = async (): Promise<unknown[]> =>
    (await memory.storage.auditLog.list({ limit: 9 })).map(({ action, accountId, targets, fields }) => [
      ...[action, accountId, targets, fields],
    ]);

  it("is on until it was first used", async () => {
    expect(await memory.core.submissions.find()).to.deep.equal({ state: "active", changedAt: null });
    expect(await memory.core.submissions.arePaused()).to.equal(false);
    expect(await recorded()).to.deep.equal([]);
  });

  it("keeps when it was changed, and records each change once", async () => {
    const { submissions } = memory.core;
    const pausedAt = memory.clock.now();
    expect(await submissions.pause()).to.deep.equal({ state: "paused", changedAt: pausedAt });
    await memory.clock.advance(5);
    expect(await submissions.pause()).to.deep.equal({ state: "paused", changedAt: pausedAt });
    expect(await submissions.arePaused()).to.equal(true);
    expect(await recorded()).to.deep.equal([["submissions.pause", null, [], {}]]);
    expect(await submissions.resume()).to.deep.equal({ state: "active", changedAt: pausedAt + 5 });
    expect(await submissions.find()).to.deep.equal({ state: "active", changedAt: pausedAt + 5 });
    expect(await submissions.arePaused()).to.equal(false);
    expect(await recorded()).to.deep.equal([
      ["submissions.resume", null, [], {}],
      ["submissions.pause", null, [], {}],
    ]);
  });
});
