import { expect } from "chai";
import {
  attackConnections,
  AttackTarget,
  attackUnfinished,
  IS_LONG,
  measured,
  sized,
} from "../../support/attack/index.js";
import { useSandbox } from "../../support/process.js";

const REFUSED_AT_ONCE_MAX = 64;

describe("Connections that clients keep open", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();

  it("are closed when their requests do not arrive in time, which frees their descriptors", async () => {
    // The long form uses the defaults, and waits for 45 s at most.
    const fermata = sandbox.spawn(["start"], await sandbox.dataDir(), {
      FERMATA_HTTP__MAX_CONNECTIONS_PER_NETWORK: "2000",
      ...(IS_LONG ? {} : { FERMATA_HTTP__REQUEST_TIMEOUT_SECONDS: "2" }),
    });
    const target = new AttackTarget(fermata, await fermata.listening());
    await target.hasAccepted();
    const before = await target.descriptors();
    const connections = sized(300, 1_500);
    const { result, figures } = await measured("unfinished requests", target, async () => {
      const attack = await attackUnfinished(target, { connections });
      await target.hasAccepted();
      await target.descriptorsBackTo(before);
      return attack;
    });
    expect(figures.descriptorsPeak).to.be.at.least(connections);
    await Promise.all(result.connections.map(({ closed }) => closed));
    const statuses = result.connections.map((connection) => connection.statuses.at(-1));
    expect(new Set(statuses)).to.deep.equal(new Set([408]));
  });

  it("are refused beyond http.maxConnectionsPerNetwork with a 429, while other networks are served", async () => {
    const most = 40;
    const fermata = sandbox.spawn(["start"], await sandbox.dataDir(), {
      FERMATA_HTTP__MAX_CONNECTIONS_PER_NETWORK: String(most),
    });
    const target = new AttackTarget(fermata, await fermata.listening());
    await target.hasAccepted();
    const before = await target.descriptors();
    const connections = sized(200, 3_000);
    const { result, figures } = await measured("silent connections", target, async () => {
      const attack = await attackConnections(target, { connections });
      await Promise.all(attack.connections.slice(most + 1).map(({ closed }) => closed));
      return attack;
    });
    const refused = result.connections.filter(({ statuses }) => statuses[0] === 429);
    expect(refused).to.not.be.empty;
    // While these get the 429, further ones are closed at once.
    expect(figures.descriptorsPeak - before).to.be.below(most + REFUSED_AT_ONCE_MAX + 30);
    for (const { text } of refused) {
      expect(text)
        .to.match(/\r\nRetry-After: 5\r\n/)
        .and.match(/\r\nConnection: close\r\n/);
      const body = JSON.parse(text.slice(text.indexOf("\r\n\r\n"))) as { readonly error: { readonly code: string } };
      expect(body.error.code).to.equal("rate_limited");
    }
    expect(figures.served).to.be.above(0);
    for (const connection of result.connections) connection.destroy();
  });
});
