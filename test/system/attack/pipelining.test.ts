import { expect } from "chai";
import { attackPipelining, AttackTarget, measured, RawConnection, sized } from "../../support/attack/index.js";
import { useSandbox } from "../../support/process.js";

const MIB = 1024 * 1024;
const MAX_PIPELINED = 16;
const SIZE = { connections: sized(10, 40), requests: 1_969 };

describe("Pipelined requests", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();

  it(`are served up to ${MAX_PIPELINED}; then the connection is closed`, async () => {
    // The metrics are at the port of the API here, which an operator may configure.
    const fermata = sandbox.spawn(["start"], await sandbox.dataDir(), { FERMATA_METRICS__PORT: "" });
    const target = new AttackTarget(fermata, await fermata.listening());
    for (const path of ["/metrics", "/pages/docs.js", "/openapi.json", "/healthz", "/nothing"]) {
      const { result, figures } = await measured(`pipelining ${path}`, target, async () => {
        const attack = await attackPipelining(target, { ...SIZE, path });
        await target.hasAccepted();
        for (const connection of attack.connections) connection.read();
        await Promise.all(attack.connections.map(({ closed }) => closed));
        return attack;
      });
      for (const { statuses } of result.connections) expect(statuses).to.have.length.at.most(MAX_PIPELINED);
      expect(figures.served).to.be.above(0);
      expect(figures.rssPeakBytes - figures.rssBeforeBytes).to.be.below(200 * MIB);
    }
  });

  it("are all served for a client that stays within the limit and reads", async () => {
    const fermata = sandbox.spawn(["start"], await sandbox.dataDir());
    const client = await RawConnection.open(await fermata.listening(), { reads: true });
    const requests = [...Array<string>(MAX_PIPELINED - 1).fill(""), "Connection: close\r\n"];
    client.send(requests.map((header) => `GET /healthz HTTP/1.1\r\nHost: x\r\n${header}\r\n`).join(""));
    await client.closed;
    expect(client.statuses).to.deep.equal(Array(MAX_PIPELINED).fill(200));
  });
});
