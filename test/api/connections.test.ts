import { expect } from "chai";
import { openMany, RawConnection } from "../support/attack/index.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const REQUEST = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

describe("Connections beyond a limit", () => {
  let test: TestApp;
  let held: RawConnection[];
  const start = async (http: object): Promise<void> => {
    held = [];
    test = await startTestApp({ settings: { http: { port: 0, ...http } } });
  };
  afterEach(async () => {
    for (const connection of held) connection.destroy();
    await test.close();
  });

  /** Connections that were served once, and stay open. */
  async function served(count: number): Promise<void> {
    const connections = await openMany(test.url, count, { reads: true });
    held.push(...connections);
    for (const connection of connections) connection.send(REQUEST);
    await eventually("responses", () => connections.every(({ statuses }) => statuses[0] === 200));
  }

  const warnings = (): string[] =>
    test.logger.lines.filter(({ level }) => level === "warn").map(({ message }) => message);

  it("of http.maxConnections are closed unread until others close; the log says so once", async () => {
    await start({ maxConnections: 3 });
    await served(3);
    for (let more = 0; more < 3; more++) {
      const refused = await RawConnection.open(test.url, { reads: true });
      refused.send(REQUEST);
      await refused.closed;
      expect(refused.text).to.equal("");
    }
    expect(warnings()).to.deep.equal(["Connections are closed: http.maxConnections are open"]);
    held.pop()?.destroy();
    await eventually("a connection to be served", async () => {
      const connection = await RawConnection.open(test.url, { reads: true });
      held.push(connection);
      connection.send(REQUEST);
      await Promise.race([connection.closed, eventually("a response", () => connection.statuses.length > 0)]);
      return connection.statuses[0] === 200;
    });
  });

  it("of http.maxConnectionsPerNetwork get 429 and are closed, until others close", async () => {
    await start({ maxConnectionsPerNetwork: 2 });
    await served(2);
    const refused = await RawConnection.open(test.url, { reads: true });
    refused.send(REQUEST);
    await refused.closed;
    expect(refused.statuses).to.deep.equal([429]);
    expect(refused.text)
      .to.match(/\r\nRetry-After: 5\r\n/)
      .and.include('"code":"rate_limited"');
    expect(refused.text).to.match(/"request_id":"req_\w{26}"/);
    expect(warnings()).to.deep.equal(["Connections are closed: http.maxConnectionsPerNetwork of one network are open"]);
    refused.destroy();
    held.pop()?.destroy();
    await eventually("room for another one", async () => (await fetch(`${test.url}/healthz`)).status === 200);
  });

  for (const trustProxy of [["loopback"], 1, true]) {
    it(`of one network are served when http.trustProxy ${String(trustProxy)} trusts it as a proxy`, async () => {
      await start({ maxConnectionsPerNetwork: 2, trustProxy });
      await served(5);
    });
  }

  it("of http.maxPipelined are logged", async () => {
    await start({ maxPipelined: 2 });
    const connection = await RawConnection.open(test.url, { reads: true });
    connection.send(REQUEST.repeat(3));
    await connection.closed;
    expect(connection.statuses).to.deep.equal([200, 200]);
    expect(warnings()).to.have.length(1);
  });
});
