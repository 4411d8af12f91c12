import { expect } from "chai";
import { attackCallbackBodies, AttackTarget, measured, sized } from "../../support/attack/index.js";
import { useSandbox } from "../../support/process.js";

const MIB = 1024 * 1024;

describe("Callbacks to an unknown address", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();

  it("get 404 before their body arrives, and use no memory", async () => {
    const fermata = sandbox.spawn(["start"], await sandbox.dataDir());
    const target = new AttackTarget(fermata, await fermata.listening());
    await target.hasAccepted();
    const { result, figures } = await measured("callback bodies", target, async () => {
      const attack = await attackCallbackBodies(target, { connections: sized(100, 400) });
      await Promise.all(attack.connections.map(({ closed }) => closed));
      return attack;
    });
    const texts = result.connections.map(({ text }) => text).filter((text) => text !== "");
    expect(texts).to.not.be.empty;
    // A client that keeps sending gets a reset: some of them cannot read the response.
    for (const text of texts) {
      expect(text)
        .to.match(/^HTTP\/1\.1 (404|429) /)
        .and.match(/\r\nConnection: close\r\n/);
    }
    expect(texts.filter((text) => text.startsWith("HTTP/1.1 404 "))).to.not.be.empty;
    expect(figures.rssPeakBytes - figures.rssBeforeBytes).to.be.below(150 * MIB);
  });
});
