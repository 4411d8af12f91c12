import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { useFakeTimers } from "sinon";
import {
  type ApiCall,
  failureOf,
  ProviderApi,
  type ProviderApiOptions,
  ProviderFailure,
  providerFailure,
} from "../../../../plugins/sdk/index.js";
import { chunks, FakeApi, type FakeResponse, json, text } from "../../../support/provider-kit/index.js";

const KEY = "sk-live-0123456789";
const ROUTE = { method: "POST", path: "/v1/music" } as const;
const never = new AbortController().signal;

describe("ProviderApi", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
  });
  afterEach(() => fake.close());

  function api(options: Partial<ProviderApiOptions> = {}): ProviderApi {
    return new ProviderApi({
      fetch,
      baseUrl: `${fake.url}/v1`,
      headers: { authorization: `Bearer ${KEY}` },
      timeoutMs: 10_000,
      ...options,
    });
  }

  async function failure(work: Promise<unknown>): Promise<ProviderFailure> {
    const error: unknown = await work.then(
      () => new Error("the call succeeded"),
      (thrown: unknown) => thrown,
    );
    if (!ProviderFailure.is(error)) throw error;
    expect(`${error.message}\n${String((error.cause as Error | undefined)?.message)}`).to.not.include(KEY);
    return error;
  }

  const post = (response: FakeResponse, call: Partial<ApiCall> = {}, options: Partial<ProviderApiOptions> = {}) => {
    fake.on(ROUTE.method, ROUTE.path, response);
    return api(options).call({ path: "/music", json: { prompt: "rain" }, signal: never, ...call });
  };

  it("sends JSON with the headers of client and call, and reads the response whole", async () => {
    const response = await post(json({ id: 7 }, { headers: { "x-request-id": "r1" } }), { headers: { "x-own": "1" } });
    const [request] = fake.requests;
    expect(request?.headers).to.include({
      authorization: `Bearer ${KEY}`,
      accept: "application/json",
      "content-type": "application/json",
      "x-own": "1",
    });
    expect([
      request?.json,
      response.status,
      response.json(),
      response.text(),
      response.headers.get("x-request-id"),
    ]).to.deep.equal([{ prompt: "rain" }, 200, { id: 7 }, '{"id":7}', "r1"]);
  });

  it("sends GET without a body, takes whole URLs of its own origin, and reads text that is not JSON", async () => {
    fake.on("GET", "/v2/tasks/7", text("hello"));
    const response = await api().call({ path: `${fake.url}/v2/tasks/7?full=1`, signal: never });
    expect([
      response.json(),
      response.text(),
      fake.requests[0]?.query,
      fake.requests[0]?.headers["content-type"],
    ]).to.deep.equal([undefined, "hello", { full: "1" }, undefined]);
  });

  it("never takes the key to another origin", async () => {
    const other = await FakeApi.open();
    const { kind, message } = await failure(api().call({ path: `${other.url}/v1/music?token=secret`, signal: never }));
    expect([kind, message, other.requests.length]).to.deep.equal([
      "failed",
      `The provider named an address of another origin: ${other.url}.`,
      0,
    ]);
    const asked = api().call({ path: `${other.url}/v1/tasks/7`, isStatusCall: true, signal: never });
    expect([(await failure(asked)).kind, other.requests.length]).to.deep.equal(["misconfigured", 0]);
    await other.close();
  });

  it("sends bytes, forms and streams as they are", async () => {
    const form = new FormData();
    form.set("model", "v2");
    form.set("audio", new Blob([new Uint8Array([1, 2, 3])], { type: "audio/mpeg" }), "a.mp3");
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array([4, 5]));
        controller.close();
      },
    });
    fake.on(ROUTE.method, ROUTE.path, json({}));
    for (const body of [new Uint8Array([9, 8]), form, stream])
      await api().call({ path: "/music", body, signal: never });
    const [plain, multipart, streamed] = fake.requests;
    expect([[...(plain?.body ?? [])], [...(streamed?.body ?? [])]]).to.deep.equal([
      [9, 8],
      [4, 5],
    ]);
    expect([multipart?.field("model"), multipart?.field("audio")]).to.deep.equal([
      "v2",
      { filename: "a.mp3", contentType: "audio/mpeg", bytes: new Uint8Array([1, 2, 3]) },
    ]);
  });

  const KINDS: readonly (readonly [status: number, kind: string, whenItCreates: string])[] = [
    [300, "failed", "failed"],
    [400, "invalid_input", "invalid_input"],
    [401, "misconfigured", "misconfigured"],
    [402, "out_of_credit", "out_of_credit"],
    [403, "misconfigured", "misconfigured"],
    [404, "gone", "model_unavailable"],
    [408, "unavailable", "outcome_unknown"],
    [409, "invalid_input", "invalid_input"],
    [410, "gone", "model_unavailable"],
    [413, "invalid_input", "invalid_input"],
    [422, "invalid_input", "invalid_input"],
    [425, "unavailable", "outcome_unknown"],
    [429, "rate_limited", "rate_limited"],
    [500, "unavailable", "outcome_unknown"],
    [502, "unavailable", "outcome_unknown"],
    [503, "unavailable", "unavailable"],
    [504, "unavailable", "outcome_unknown"],
  ];
  for (const [status, kind, whenItCreates] of KINDS) {
    const otherwise = kind === whenItCreates ? "" : `, and for ${whenItCreates} where the call creates`;
    it(`takes ${status} for ${kind}${otherwise}`, async () => {
      expect((await failure(post(text("no", { status })))).kind).to.equal(kind);
      expect((await failure(post(text("no", { status }), { creates: true }))).kind).to.equal(whenItCreates);
    });
  }

  const PAGE: FakeResponse = { headers: { "content-type": "text/html" }, body: "<html>no</html>" };
  const STATUS_CALLS: readonly (readonly [
    kind: string,
    statuses: readonly number[],
    respond: (status: number) => FakeResponse,
  ])[] = [
    ["gone", [404, 410], (status) => json({ detail: "no such task" }, { status })],
    ["unavailable", [404, 410], (status) => ({ ...PAGE, status })],
    ["unavailable", [404], (status) => json([], { status })],
    [
      "unavailable",
      [302, 400, 405, 408, 409, 413, 421, 422, 425, 431, 451, 500, 502, 503],
      (status) => json({ detail: "no" }, { status }),
    ],
    ["misconfigured", [401, 403], (status) => ({ ...PAGE, status })],
    ["out_of_credit", [402], (status) => ({ ...PAGE, status })],
    ["rate_limited", [429], (status) => ({ ...PAGE, status })],
  ];
  for (const [kind, statuses, result] of STATUS_CALLS) {
    it(`takes ${statuses.join(", ")} of a status call for ${kind}: ${String(result(0).body)}`, async () => {
      for (const status of statuses)
        expect((await failure(post(result(status), { isStatusCall: true }))).kind, String(status)).to.equal(kind);
    });
  }

  it("takes a base with slashes at its end", async () => {
    fake.on("GET", "/v1/music", json({}));
    expect((await api({ baseUrl: `${fake.url}/v1//` }).call({ path: "/music", signal: never })).status).to.equal(200);
    expect(
      (await api({ baseUrl: `${fake.url}/` }).call({ path: `${fake.url}/v1/music`, signal: never })).status,
    ).to.equal(200);
  });

  it("reports status, text, wait and request id of a refusal", async () => {
    const response = text(`slow\n   down ${"x".repeat(400)}`, {
      status: 429,
      headers: { "retry-after": "1.5", "x-request-id": "r9" },
    });
    const { message, retryAfterMs: wait, requestId, billable } = await failure(post(response));
    expect([message, wait, requestId, billable]).to.deep.equal([
      `429: ${`slow down ${"x".repeat(400)}`.slice(0, 300)}`,
      1_500,
      "r9",
      "no",
    ]);
  });

  it("keeps the key out of a refusal that repeats it", async () => {
    const repeats = json(
      { error: `the key ${KEY} is not valid`, sent: `Bearer ${KEY}` },
      { status: 401, headers: { "retry-after": "9", "request-id": "r2" } },
    );
    const { message, kind, retryAfterMs: wait, requestId } = await failure(post(repeats));
    expect([message, kind, wait, requestId]).to.deep.equal([
      '401: {"error":"the key *** is not valid","sent":"Bearer ***"}',
      "misconfigured",
      9_000,
      "r2",
    ]);
    const bare = await failure(
      post(text(`no ${KEY}`, { status: 400 }), {}, { headers: { "x-api-key": KEY, "x-region": "status" } }),
    );
    expect(bare.message).to.equal("400: no ***");
  });

  it("goes by the provider's own table before the status", async () => {
    const classify: ProviderApiOptions["classify"] = (response) => {
      const { code } = (response.json() ?? {}) as { readonly code?: string };
      if (code === "blocked")
        return providerFailure("content_rejected", response, { message: "not that", code, retryAfterMs: 5 });
      return code === "fine" ? null : undefined;
    };
    const {
      kind,
      message,
      providerCode,
      retryAfterMs: wait,
    } = await failure(post(json({ code: "blocked" }), {}, { classify }));
    expect([kind, message, providerCode, wait]).to.deep.equal(["content_rejected", "200: not that", "blocked", 5]);
    expect((await post(json({ code: "fine" }, { status: 500 }), {}, { classify })).status).to.equal(500);
    expect((await failure(post(json({}, { status: 402 }), {}, { classify }))).kind).to.equal("out_of_credit");
  });

  for (const fault of ["cut-request", "cut-reply", "cut-body"] as const) {
    it(`does not know what became of a lost call that creates, and asks again otherwise (${fault})`, async () => {
      fake.spoil(ROUTE, fault, 2);
      expect((await failure(post(json({ id: "a longer body" }), { creates: true }))).kind).to.equal("outcome_unknown");
      expect((await failure(post(json({ id: "a longer body" })))).kind).to.equal("unavailable");
      expect(fake.calls(ROUTE)).to.have.lengthOf(2);
    });
  }

  it("knows that a refused connection sent nothing", async () => {
    const gone = await FakeApi.open();
    await gone.close();
    const { kind, message, billable } = await failure(
      api({ baseUrl: gone.url }).call({ path: "/music", json: {}, creates: true, signal: never }),
    );
    const address = `127.0.0.1 port ${new URL(gone.url).port}`;
    expect([kind, message, billable]).to.deep.equal(["unavailable", `${address} refused the connection.`, "no"]);
  });

  it("knows that a name which does not resolve sent nothing", async () => {
    const { kind } = await failure(
      api({ baseUrl: "http://nowhere.invalid" }).call({ path: "/music", json: {}, creates: true, signal: never }),
    );
    expect(kind).to.equal("unavailable");
  });

  for (const [what, options, call] of [
    ["the client's", { timeoutMs: 1 }, {}],
    ["the call's", {}, { timeoutMs: 1 }],
  ] as const) {
    it(`ends a call after ${what} time-out, without knowing the outcome of one that creates`, async () => {
      fake.spoil(ROUTE, "hang", 2);
      const { kind, message } = await failure(post(json({}), { creates: true, ...call }, options));
      expect([kind, message.startsWith("No response in time")]).to.deep.equal(["outcome_unknown", true]);
      expect((await failure(post(json({}), call, options))).kind).to.equal("unavailable");
      await fake.idle();
    });
  }

  it("gives up a poll whose response has not begun after a minute, but not the body of one that has", async () => {
    const time = useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      fake.spoil(ROUTE, "hang");
      let hasEnded = false;
      const ended = failure(post(json({}), { isStatusCall: true })).finally(() => (hasEnded = true));
      await fake.received(ROUTE);
      time.tick(59_999);
      await nextTurn();
      expect(hasEnded).to.equal(false);
      time.tick(1);
      const { kind, message } = await ended;
      expect([kind, message.startsWith("No response in time")]).to.deep.equal(["unavailable", true]);

      const body = new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            time.tick(60_000);
            controller.enqueue(new TextEncoder().encode("a slow song"));
            controller.close();
          },
        },
        { highWaterMark: 0 },
      );
      const song = await post(json({}), { isStatusCall: true }, { fetch: () => Promise.resolve(new Response(body)) });
      expect(song.text()).to.equal("a slow song");
    } finally {
      time.restore();
    }
  });

  it("ends at once when it is aborted, and does not call when it was before", async () => {
    fake.spoil(ROUTE, "hang");
    const stop = new AbortController();
    const ended = failure(post(json({}), { creates: true, signal: stop.signal }));
    await fake.received(ROUTE);
    stop.abort();
    const { kind, message } = await ended;
    expect([kind, message.startsWith("The call was aborted")]).to.deep.equal(["outcome_unknown", true]);
    await fake.idle();
    const early = await failure(post(json({}), { creates: true, signal: AbortSignal.abort() }));
    expect([early.kind, early.billable, fake.requests.length]).to.deep.equal(["unavailable", "no", 1]);
  });

  it("reads no more than it may, by its own bound or the call's", async () => {
    const response = chunks(["12345", "67890"], "text/plain");
    expect((await post(response, {}, { maxBytes: 10 })).text()).to.equal("1234567890");
    for (const [call, options] of [
      [{}, { maxBytes: 9 }],
      [{ maxBytes: 9 }, {}],
    ]) {
      const { kind, message } = await failure(post(response, call, options));
      expect([kind, message]).to.deep.equal(["failed", "The response is larger than 9 bytes."]);
    }
    await fake.idle();
  });

  it("follows no redirect", async () => {
    const { kind } = await failure(post({ status: 307, headers: { location: `${fake.url}/elsewhere` } }));
    expect([kind, fake.requests.length]).to.deep.equal(["failed", 1]);
  });

  it("returns an empty body where there is none", async () => {
    const response = await post({ status: 204 });
    expect([response.status, response.text(), response.json()]).to.deep.equal([204, "", undefined]);
    expect(failureOf(response)).to.equal(null);
  });
});
