import { expect } from "chai";
import { AbortedError, FermataError, NetworkError, ServiceUnavailableError } from "../../../adapters/client/index.js";
import { createTransport, type TransportOptions } from "../../../adapters/client/transport.js";
import { sleep } from "../../../adapters/client/wait.js";

type Reply = () => Response | Promise<Response>;

const json = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json", ...headers } });
const ok: Reply = () => json(200, { data: { id: "job_1" } });
const busy = (seconds: string): Reply => {
  const error = { code: "service_unavailable", message: "Later.", request_id: "req_9" };
  return () => json(503, { error }, { "Retry-After": seconds });
};
const lost: Reply = () => Promise.reject(new TypeError("fetch failed"));
const cutOff: Reply = () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{ "data": {'));
      controller.error(new TypeError("terminated"));
    },
  });
  return new Response(body, { status: 200 });
};

/** A server of these replies, in turn; what it got, and how long the client waited. */
function scripted(replies: readonly Reply[], options: Partial<TransportOptions> = {}) {
  const [bodies, waits]: [string[], number[]] = [[], []];
  const send = createTransport({
    fetch: async (input) => {
      const request = input as Request;
      bodies.push(await request.text());
      return (replies[bodies.length - 1] as Reply)();
    },
    retries: 4,
    retryForMs: 120_000,
    timeoutMs: 60_000,
    sleep: (ms) => Promise.resolve(void waits.push(ms)),
    ...options,
  });
  return { send, bodies, waits };
}

const post = (headers: Record<string, string> = { "Idempotency-Key": "k-1" }, signal?: AbortSignal): Request =>
  new Request("http://api.example/api/v1/generations", { method: "POST", body: "{}", headers, signal: signal ?? null });

async function thrownBy(call: Promise<unknown>): Promise<FermataError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(FermataError);
  return error as FermataError;
}

describe("The client's transport", () => {
  it("sends a request with a key again, with its body, until a whole response has come", async () => {
    const html: Reply = () => new Response("<h1>Bad Gateway</h1>", { status: 502 });
    const half: Reply = () => new Response('{ "data": { "id"', { status: 200 });
    const server = scripted([lost, cutOff, half, html, ok]);
    const response = await server.send(post());
    expect(await response.json()).to.deep.equal({ data: { id: "job_1" } });
    expect(server.bodies).to.deep.equal(["{}", "{}", "{}", "{}", "{}"]);
    expect(server.waits).to.have.lengthOf(4);
  });

  it("never sends a POST without a key again", async () => {
    for (const reply of [lost, cutOff, busy("1")]) {
      const server = scripted([reply]);
      await thrownBy(server.send(post({})));
      expect(server.bodies).to.have.lengthOf(1);
    }
  });

  it("waits as long as Retry-After says, and gives up where that is longer than it may", async () => {
    const patient = scripted([busy("30"), ok]);
    await patient.send(post());
    expect(patient.waits).to.deep.equal([30_000]);
    const impatient = scripted([busy("300")]);
    const error = await thrownBy(impatient.send(post()));
    expect(error).to.be.instanceOf(ServiceUnavailableError);
    expect([impatient.waits, error.requestId, error.idempotencyKey]).to.deep.equal([[], "req_9", "k-1"]);
  });

  it("ends after its retries, with the key under which the call can go on", async () => {
    const server = scripted([lost, lost, lost], { retries: 2 });
    const error = await thrownBy(server.send(post()));
    expect(error).to.be.instanceOf(NetworkError);
    expect([error.code, error.status, error.idempotencyKey]).to.deep.equal(["network_error", 0, "k-1"]);
    expect(error.message).to.equal("No whole response to POST http://api.example/api/v1/generations.");
    expect(server.bodies).to.have.lengthOf(3);
  });

  it("counts a response that does not come as lost", async () => {
    let requests = 0;
    const hangs = ((_: Request, { signal }: RequestInit) => {
      requests += 1;
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
    }) as unknown as typeof fetch;
    const error = await thrownBy(scripted([], { fetch: hangs, timeoutMs: 1, retries: 1 }).send(post()));
    expect([error.code, requests]).to.deep.equal(["network_error", 2]);
  });

  it("stops at once when the signal aborts: while it waits for a response, and between two tries", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const whileSending = scripted([() => (first.abort("enough"), Promise.reject(new TypeError("aborted")))]);
    const early = await thrownBy(whileSending.send(post(undefined, first.signal)));
    expect(early).to.be.instanceOf(AbortedError);
    expect([early.name, early.idempotencyKey, early.cause]).to.deep.equal(["AbortError", "k-1", "enough"]);
    const whileWaiting = scripted([() => (setImmediate(() => second.abort()), busy("60")())], { sleep });
    const late = await thrownBy(whileWaiting.send(post(undefined, second.signal)));
    expect([late.name, late.idempotencyKey]).to.deep.equal(["AbortError", "k-1"]);
  });

  it("calls a response that is none of Fermata's http_error", async () => {
    const server = scripted([() => new Response("<h1>Forbidden</h1>", { status: 403 })]);
    const error = await thrownBy(server.send(post()));
    expect([error.constructor, error.code, error.status]).to.deep.equal([FermataError, "http_error", 403]);
  });
});
