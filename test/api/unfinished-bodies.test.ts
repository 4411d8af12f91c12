import { expect } from "chai";
import { openMany, type RawConnection } from "../support/attack/index.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const BODY_BYTES = 256 * 1024;
/** As many as fit into 8 MiB. */
const HELD_MAX = 32;

describe("Unfinished request bodies", () => {
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp();
    caller = await test.account();
  });
  after(() => test.close());

  function headWith(...headers: readonly string[]): string {
    const common = [`Authorization: Bearer ${caller.key}`, "Idempotency-Key: a", "Content-Type: application/json"];
    return ["POST /api/v1/generations HTTP/1.1", "Host: x", ...common, ...headers, "", ""].join("\r\n");
  }

  async function withhold(count: number): Promise<RawConnection[]> {
    const connections = await openMany(test.url, count, { reads: true });
    for (const connection of connections) {
      connection.send(headWith(`Content-Length: ${BODY_BYTES}`));
      connection.send(Buffer.alloc(BODY_BYTES - 1, " "));
    }
    return connections;
  }

  it("of one network use at most 8 MiB: further requests get 429 until they are closed", async () => {
    const connections = await withhold(HELD_MAX + 10);
    const refused = (): RawConnection[] => connections.filter(({ statuses }) => statuses.length > 0);
    await eventually("those that are too many", () => refused().length >= 10);
    expect(new Set(refused().map(({ statuses }) => statuses[0]))).to.deep.equal(new Set([429]));
    for (const { text } of refused())
      expect(text)
        .to.match(/\r\nRetry-After: 5\r\n/)
        .and.include('"rate_limited"');
    for (const connection of connections) connection.destroy();
    await eventually("a body to be read", async () => (await caller.api.generate()).status === 202);
  });

  it("that arrive one byte at a time are read correctly", async () => {
    const [connection] = await openMany(test.url, 1, { reads: true });
    const body = JSON.stringify({ model_id: "scripted/song", prompt: "ü".repeat(1_000), foo: 1 });
    connection?.send(headWith("Transfer-Encoding: chunked", "Connection: close"));
    for (const byte of Buffer.from(body).toString("latin1")) {
      connection?.send(Buffer.from(`1\r\n${byte}\r\n`, "latin1"));
    }
    connection?.send("0\r\n\r\n");
    await connection?.closed;
    // The unknown field, which is the last, was read as such.
    expect(connection?.text).to.include("HTTP/1.1 400 ").and.include('"body.foo"');
  });

  it("are read correctly after whole ones in the same packet", async () => {
    const [connection] = await openMany(test.url, 1, { reads: true });
    const bodyOf = (field: string): string => JSON.stringify({ model_id: "scripted/song", prompt: "ü", [field]: 1 });
    const requestOf = (field: string, ...headers: readonly string[]): string => {
      const body = bodyOf(field);
      return headWith(`Content-Length: ${Buffer.byteLength(body)}`, ...headers) + body;
    };
    const last = requestOf("third", "Connection: close");
    connection?.send(requestOf("first") + requestOf("second") + last.slice(0, -10));
    await eventually("the whole ones", () => connection?.statuses.length === 2);
    connection?.send(last.slice(-10));
    await connection?.closed;
    const fields = [...(connection?.text ?? "").matchAll(/"body\.(\w+)"/g)].map(([, field]) => field);
    expect([connection?.statuses, fields]).to.deep.equal([
      [400, 400, 400],
      ["first", "second", "third"],
    ]);
  });
});
