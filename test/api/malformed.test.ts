import { expect } from "chai";
import fc from "fast-check";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { A_GENERATION, ApiClient, rawRequest, refusalOf } from "../support/api-client.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const statusOf = (response: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(response)?.[1] ?? 0);
const bodyOf = (response: string): { readonly error: { readonly code: string; readonly request_id: string } } =>
  JSON.parse(response.slice(response.indexOf("\r\n\r\n") + 4)) as never;

describe("A malformed request", () => {
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp({ settings: { rateLimits: { authFailures: { perMinute: 1_000_000 } } } });
    caller = await test.account({ credits: 1_000_000 });
  });
  after(() => test.close());
  afterEach(() => {
    expect(test.logger.lines.filter(({ level }) => level === "error")).to.deep.equal([]);
  });

  const head = (first: string, ...headers: string[]): string =>
    `${[first, "Host: x", "Connection: close", ...headers].join("\r\n")}\r\n\r\n`;

  describe("that is not HTTP gets 400 with the error envelope", () => {
    const broken: readonly (readonly [what: string, bytes: string])[] = [
      ["garbage", "\x00\x01\x02\r\n\r\n"],
      ["an unknown method", "FROB /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n"],
      ["an unknown version", "GET / HTTP/9.9\r\nHost: x\r\n\r\n"],
      ["a space in the path", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"],
      ["a header without a name", "GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n"],
      ["a header with a NUL", "GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n"],
      ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na"],
      ["a length that is no number", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\na"],
      [
        "a length and chunks",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      ],
      ["a TLS greeting", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
    ];
    for (const [what, bytes] of broken) {
      it(what, async () => {
        const response = await rawRequest(test.url, Buffer.from(bytes, "latin1"));
        expect(statusOf(response)).to.equal(400);
        expect(bodyOf(response).error.code).to.equal("invalid_request");
        expect(response).to.include(`X-Request-Id: ${bodyOf(response).error.request_id}`);
        expect(response).to.include("Connection: close");
      });
    }

    it("HTTP/1.1 without Host", async () => {
      const response = await rawRequest(test.url, "GET /healthz HTTP/1.1\r\n\r\n");
      expect([statusOf(response), bodyOf(response).error.code]).to.deep.equal([400, "invalid_request"]);
    });
  });

  it("with two Host headers gets 400 invalid_request, whichever of them is right", async () => {
    for (const headers of [
      ["Host: a", "Host: b"],
      ["Host: a", "X: y", "hOST: a"],
      ["Host:", "Host:"],
    ]) {
      for (const version of ["HTTP/1.1", "HTTP/1.0"]) {
        const response = await rawRequest(test.url, `${[`GET /healthz ${version}`, ...headers].join("\r\n")}\r\n\r\n`);
        expect([statusOf(response), bodyOf(response).error.code], headers.join()).to.deep.equal([
          400,
          "invalid_request",
        ]);
        expect(response).to.include('"header.Host"');
      }
    }
  });

  it("with a Host that is none gets 400 invalid_request", async () => {
    for (const host of ["user@host", "host/path", "a, b", "a b", "host:port", "[::1", "a?b", "%zz"]) {
      const response = await rawRequest(test.url, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect([statusOf(response), bodyOf(response).error.code], host).to.deep.equal([400, "invalid_request"]);
      expect(response).to.include('"header.Host"');
    }
    for (const host of ["a_b.example:80", "[::1]:8080", "127.0.0.1", ""]) {
      const request = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      expect(statusOf(await rawRequest(test.url, request)), host).to.equal(200);
    }
  });

  it("with chunks in HTTP/1.0 gets 400 invalid_request", async () => {
    const request = head("POST /healthz HTTP/1.0", "Transfer-Encoding: chunked");
    const response = await rawRequest(test.url, `${request}0\r\n\r\n`);
    expect([statusOf(response), bodyOf(response).error.code]).to.deep.equal([400, "invalid_request"]);
    expect(response).to.include('"header.Transfer-Encoding"');
  });

  it("with two Host headers closes its connection", async () => {
    const request = "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
    const response = await rawRequest(test.url, request + head("GET /healthz HTTP/1.1"));
    expect(response.match(/^HTTP\/1/gm)).to.have.length(1);
    expect(statusOf(response)).to.equal(400);
  });

  it("with huge headers gets 431", async () => {
    const response = await rawRequest(test.url, head("GET /healthz HTTP/1.1", `X: ${"x".repeat(20_000)}`));
    expect([statusOf(response), bodyOf(response).error.code]).to.deep.equal([431, "invalid_request"]);
  });

  const odd: readonly (readonly [what: string, first: string, status: number])[] = [
    ["HTTP/1.0", "GET /healthz HTTP/1.0", 200],
    ["an absolute address", "GET http://elsewhere/healthz HTTP/1.1", 200],
    ["an absolute address that is none", "GET http://[/healthz HTTP/1.1", 400],
    ["an asterisk", "OPTIONS * HTTP/1.1", 204],
    ["CONNECT", "CONNECT elsewhere:443 HTTP/1.1", 400],
    ["two slashes", "GET //healthz HTTP/1.1", 404],
    ["dots", "GET /api/v1/../../healthz HTTP/1.1", 404],
    ["a backslash", "GET /api\\v1\\me HTTP/1.1", 404],
    ["half a percent", "GET /api/v1/models/% HTTP/1.1", 400],
    ["half a character", "GET /api/v1/jobs/%C3 HTTP/1.1", 400],
    ["an overlong path", `GET /api/v1/jobs/${"x".repeat(10_000)} HTTP/1.1`, 401],
    ["a query of noise", "GET /healthz?%&=&&%zz=%&[]=__proto__&__proto__[x]=1 HTTP/1.1", 200],
    ["an expectation", "GET /healthz HTTP/1.1\r\nExpect: miracles", 200],
    ["an upgrade", "GET /healthz HTTP/1.1\r\nUpgrade: websocket", 200],
    ["TRACE", "TRACE /api/v1/me HTTP/1.1", 405],
  ];
  for (const [what, first, status] of odd) {
    it(`with ${what} gets ${status}`, async () => {
      const response = await rawRequest(test.url, head(first));
      expect(statusOf(response), response).to.equal(status);
      expect(response).to.match(/\r\nX-Request-Id: req_/);
    });
  }

  describe("as JSON", () => {
    const bodies: readonly (readonly [what: string, body: string | Uint8Array, refusal: string])[] = [
      ["nothing", "", "400 invalid_request"],
      ["white space", "  ", "400 invalid_request"],
      ["a list", "[]", "400 invalid_request"],
      ["null", "null", "400 invalid_request"],
      ["a string", '"x"', "400 invalid_request"],
      ["a number", "1e400", "400 invalid_request"],
      ["half an object", '{"model_id":', "400 invalid_request"],
      ["two objects", "{}{}", "400 invalid_request"],
      ["a comment", "{} // x", "400 invalid_request"],
      ["bytes that are no UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "400 invalid_request"],
      ["UTF-16", Buffer.from('{"model_id":"x"}', "utf16le"), "400 invalid_request"],
      ["compressed bytes without Content-Encoding", gzipSync("{}"), "400 invalid_request"],
      [
        "a field __proto__",
        '{"model_id":"scripted/song","prompt":"x","__proto__":{"admin":true}}',
        "400 invalid_request",
      ],
      [
        "a field constructor",
        '{"model_id":"scripted/song","prompt":"x","constructor":{"prototype":{}}}',
        "400 invalid_request",
      ],
      ["a field toString", '{"model_id":"scripted/song","prompt":"x","toString":1}', "400 invalid_request"],
      ["a duration of 1e400", '{"model_id":"scripted/song","prompt":"x","duration":1e400}', "400 invalid_request"],
      [
        "a duration of 9007199254740993",
        '{"model_id":"scripted/song","prompt":"x","duration":9007199254740993}',
        "400 invalid_request",
      ],
      ["a duration of 1e21", '{"model_id":"scripted/song","prompt":"x","duration":1e21}', "400 invalid_request"],
      [
        "100,000 lists in metadata",
        `{"model_id":"scripted/song","prompt":"x","metadata":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`,
        "400 invalid_request",
      ],
      [
        "100,000 objects as prompt",
        `{"model_id":"scripted/song","prompt":${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}}`,
        "400 invalid_request",
      ],
      [
        "100,000 lists in an unknown field",
        `{"foo":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
        "400 invalid_request",
      ],
    ];
    for (const [what, body, refusal] of bodies) {
      it(`${what}: ${refusal}`, async () => {
        expect(refusalOf(await caller.api.generate(body))).to.equal(refusal);
      });
    }

    const accepted: readonly (readonly [what: string, body: string])[] = [
      ["a byte order mark", `\ufeff${JSON.stringify(A_GENERATION)}`],
      ["members given twice", '{"model_id":"no/model","prompt":"x","model_id":"scripted/song"}'],
      [
        "__proto__ inside metadata",
        '{"model_id":"scripted/song","prompt":"x","metadata":{"__proto__":{"admin":true},"constructor":1}}',
      ],
      [
        "1e400 inside metadata",
        '{"model_id":"scripted/song","prompt":"x","metadata":{"a":1e400,"b":-0,"c":"\\u0000"}}',
      ],
      ["escapes", '{"model_id":"scripted\\/song","prompt":"\\ud83c\\udfb5"}'],
    ];
    for (const [what, body] of accepted) {
      it(`with ${what} is accepted`, async () => {
        expect((await caller.api.generate(body)).status).to.equal(202);
        expect(({} as Record<string, unknown>)["admin"]).to.equal(undefined);
      });
    }
  });

  it("whose client disconnects in the middle of the body leaves nothing behind", async () => {
    const request = head(
      "POST /api/v1/generations HTTP/1.1",
      `Authorization: Bearer ${caller.key}`,
      "Content-Type: application/json",
      "Content-Length: 100",
    );
    await disableNetwork(test.url, `${request}{"model_id"`);
    expect((await caller.api.get("/api/v1/me")).status).to.equal(200);
  });

  describe("never gets 5xx", () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    after(() => agent.destroy());
    const neverFails = (status: number): void => void expect(status).to.be.within(200, 499);

    it("whatever the JSON body", async () => {
      const member = fc.constantFrom(
        "model_id",
        "prompt",
        "lyrics",
        "duration",
        "instrumental",
        "client",
        "metadata",
        "__proto__",
        "x",
      );
      const body = fc.dictionary(
        member,
        fc.oneof(fc.jsonValue(), fc.constantFrom("scripted/song", "scripted/beat", 30, true)),
        { noNullPrototype: true },
      );
      await fc.assert(
        fc.asyncProperty(fc.oneof(body, fc.jsonValue()), async (value) => {
          neverFails((await caller.api.generate(JSON.stringify(value))).status);
        }),
        { numRuns: 100 },
      );
    });

    it("whatever the bytes of the body, its type and encoding", async () => {
      const bytes = fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.string().map((text) => Buffer.from(`{${text}`)),
      );
      const type = fc.constantFrom(
        "application/json",
        "application/json; charset=x",
        "text/json",
        "application/json;;;",
        ";",
      );
      const encoding = fc.constantFrom("identity", "gzip", "deflate", "br", "");
      await fc.assert(
        fc.asyncProperty(bytes, type, encoding, async (body, contentType, contentEncoding) => {
          const headers = { "Content-Type": contentType, "Content-Encoding": contentEncoding };
          neverFails((await caller.api.generate(body, headers)).status);
        }),
        { numRuns: 60 },
      );
    });

    it("whatever the path, the query and the headers", async () => {
      const visible = fc.string({
        unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
        maxLength: 40,
      });
      const base = fc.constantFrom(
        "/",
        "/api/v1/models/",
        "/api/v1/jobs/",
        "/api/v1/generations?",
        "/api/v1/generations?limit=",
        "/audio/",
        "/docs/",
        "//",
      );
      const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "OPTIONS", "DELETE", "PATCH");
      const header = fc.constantFrom(
        "Authorization",
        "Prefer",
        "Range",
        "If-Range",
        "If-None-Match",
        "X-Client",
        "X-Forwarded-For",
        "Idempotency-Key",
        "Content-Type",
      );
      await fc.assert(
        fc.asyncProperty(method, base, visible, header, visible, async (verb, start, rest, name, value) => {
          const path = `${start}${rest}`.replaceAll("#", "");
          neverFails(
            await statusFor(test.url, agent, verb, path, { Authorization: `Bearer ${caller.key}`, [name]: value }),
          );
        }),
        { numRuns: 200 },
      );
    });

    it("whatever the bytes on the connection", async () => {
      const line = fc.constantFrom(
        "GET / HTTP/1.1",
        "POST /api/v1/generations HTTP/1.1",
        "Host: x",
        "Content-Length: 3",
        "Transfer-Encoding: chunked",
        "3",
        "abc",
        "",
      );
      const bytes = fc
        .array(fc.oneof(line, fc.string({ maxLength: 20 })), { maxLength: 8 })
        .map((lines) => `${lines.join("\r\n")}\r\n\r\n\x00\r\n\r\n`);
      // The server rightly waits for the rest of an incomplete request; after this silence the client stops waiting.
      const silenceMs = 200;
      await fc.assert(
        fc.asyncProperty(bytes, async (sent) => {
          for (const [, status] of (await rawRequest(test.url, sent, silenceMs)).matchAll(/HTTP\/1\.1 (\d{3})/g))
            neverFails(Number(status));
        }),
        { numRuns: 60 },
      );
    });
  });

  it("with random bytes as Authorization gets 401", async () => {
    for (const noise of ["Bearer \x80\xff", "Bearer a b c", ",", "=", "Bearer\tx", "Bearer Bearer Bearer"]) {
      const response = await new ApiClient(test.url, null).get("/api/v1/me", { Authorization: noise });
      expect(response.status, noise).to.equal(401);
    }
  });
});

/** Sends a request with this exact path. */
function statusFor(
  url: string,
  agent: Agent,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, agent, method, path, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Sends bytes and disconnects. */
async function disableNetwork(url: string, bytes: string): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  await once(socket, "connect");
  await new Promise((resolve) => socket.write(bytes, resolve));
  socket.destroy();
  await once(socket, "close");
}
