import { expect } from "chai";
import fc from "fast-check";
import { createMigratedFile } from "../../support/databases.js";
import { rawRequest } from "../../support/api-client.js";
import { fuzzed } from "../../support/fuzz/fuzz.js";
import { byteChanges, changedBytes } from "../../support/fuzz/bytes.js";
import { type FermataProcess, Sandbox } from "../../support/process.js";
import { join } from "node:path";

const HOST = "Host: fermata.test\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";
/** The server rightly waits for the rest of a request; after this silence the client stops waiting. */
const SILENCE_MS = 150;
const MARK = "SMUGGLED";

const KEYED = "Authorization: Bearer KEY\r\n";
const POST = `POST /x HTTP/1.1\r\n${HOST}`;
const SMUGGLED = `GET /${MARK} HTTP/1.1\r\n${HOST}\r\n`;

/** Requests on one connection, whole and of every shape in which two servers read different ends. */
const SHAPES: readonly string[] = [
  `GET /healthz HTTP/1.1\r\n${HOST}\r\n`,
  `GET /healthz HTTP/1.1\r\n${HOST}\r\n`.repeat(20),
  `HEAD /api/v1/me HTTP/1.1\r\n${HOST}Authorization: Bearer KEY\r\n\r\n`,
  `GET /api/v1/me HTTP/1.1\r\n${HOST}Authorization: Bearer KEY\r\nAuthorization: Bearer other\r\n\r\n`,
  `POST /api/v1/generations HTTP/1.1\r\n${HOST}${JSON_TYPE}${KEYED}Content-Length: 2\r\n\r\n{}`,
  `POST /api/v1/playlists HTTP/1.1\r\n${HOST}${JSON_TYPE}${KEYED}Transfer-Encoding: chunked\r\n\r\n` +
    `d\r\n{"title":"a"}\r\n0\r\n\r\n`,
  `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  `${POST}Content-Length: 0\r\nContent-Length: 44\r\n\r\n${SMUGGLED}`,
  `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  `${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked, identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx`,
  `${POST}Transfer-Encoding: chunked\r\n\r\n1;${"e=1;".repeat(3_000)}\r\nx\r\n0\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\n${"T: x\r\n".repeat(3_000)}\r\n`,
  `${POST}Content-Length: -1\r\n\r\n`,
  `${POST}Content-Length: +2\r\n\r\n{}`,
  `${POST}Content-Length: 99999999999999999999\r\n\r\n{}`,
  `POST /api/v1/generations HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nContent-Length: 300000\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\n${HOST}${Array.from({ length: 1_500 }, (_, index) => `H${index}: x\r\n`).join("")}\r\n`,
  `GET /healthz HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`,
  `GET /${"a/".repeat(4_000)} HTTP/1.1\r\n${HOST}\r\n`,
  `GET http://user:pass@elsewhere:80/healthz HTTP/1.1\r\n${HOST}\r\n`,
  `CONNECT elsewhere:443 HTTP/1.1\r\n${HOST}\r\n`,
  `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\n${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\n${HOST}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n`,
];

const CONNECTIONS_MAX = 4;

describe("A server that gets changed bytes", function () {
  this.timeout(900_000);
  const sandbox = new Sandbox();
  let fermata: FermataProcess;
  let url: string;
  let key: string;

  before(async () => {
    const dataDir = await sandbox.dataDir();
    await createMigratedFile(join(dataDir, "fermata.sqlite"));
    const { id } = await sandbox.json<{ id: string }>(
      ["accounts", "create", "mallory", "--tier", "pro", "--accept-terms"],
      dataDir,
    );
    ({ key } = await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir));
    // The account asks more often in a minute than usual limits let it.
    fermata = sandbox.spawn(["start"], dataDir, {
      FERMATA_DEMO__ENABLED: "false",
      FERMATA_RATE_LIMITS__READ__PER_MINUTE: "1000000",
      FERMATA_RATE_LIMITS__READ__PER_DAY: "10000000",
    });
    url = await fermata.listening();
  });
  after(() => sandbox.clear());

  /** From another connection: what happens to one must not reach the others. */
  const expectServed = async (): Promise<void> => {
    const response = await fetch(`${url}/api/v1/me`, { headers: { Authorization: `Bearer ${key}` } });
    expect(response.status).to.equal(200);
    expect(((await response.json()) as { data: { name: string } }).data).to.be.an("object");
  };

  fuzzed(
    "responds to them with refusals or not at all, and serves the next client",
    { short: 20, long: 700 },
    () =>
      fc.array(
        fc.array(fc.record({ shape: fc.nat(SHAPES.length - 1), changes: fc.oneof(fc.constant([]), byteChanges) }), {
          minLength: 1,
          maxLength: 3,
        }),
        { minLength: 1, maxLength: CONNECTIONS_MAX },
      ),
    async (connections) => {
      const texts = await Promise.all(
        connections.map((requests) => {
          const parts = requests.map(({ shape, changes }) => {
            const whole = Buffer.from((SHAPES[shape] as string).replaceAll("KEY", key), "latin1");
            return changedBytes(whole, changes);
          });
          return rawRequest(url, Buffer.concat(parts), SILENCE_MS);
        }),
      );
      for (const text of texts) {
        for (const [, status] of text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)) expect(Number(status), text).to.be.below(500);
        expect(text).to.not.match(/\n\s+at \S+ \(|TypeError|RangeError|node:internal/);
      }
      expect(fermata.hasExited).to.equal(false);
      await expectServed();
    },
  );

  it("never reads a second request out of the body of a first one", async () => {
    for (const shape of SHAPES.filter((each) => each.includes(MARK))) {
      const text = await rawRequest(url, shape, SILENCE_MS);
      expect(text).to.match(/^HTTP\/1\.1 400 /);
      expect(text.match(/^HTTP\/1\.1 /gm)).to.have.length(1);
    }
  });

  it("writes no line that it did not expect", async () => {
    await expectServed();
    const lines = (fermata.stdout + fermata.stderr)
      .split("\n")
      .filter((line) => /"level":"error"|UnhandledPromise/.test(line));
    expect(lines).to.deep.equal([]);
    expect(fermata.hasExited).to.equal(false);
  });
});
