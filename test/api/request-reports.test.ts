import { expect } from "chai";
import { once } from "node:events";
import type { AnsweredRequest, HttpDeps } from "../../adapters/http/index.js";
import { InvalidApiKeyError } from "../../core/errors.js";
import { A_GENERATION, type ApiResponse, dataOf } from "../support/api-client.js";
import { type FakeHttp, startFakeHttp } from "./fake-parts.js";

describe("The report of a finished request", () => {
  let fake: FakeHttp;
  const start = async (parts: Partial<HttpDeps> = {}): Promise<void> => {
    fake = await startFakeHttp(parts);
  };
  afterEach(() => fake.close());

  /** The report of the only request so far; it is sent after the response. */
  const reported = async (): Promise<AnsweredRequest> => {
    await fake.http.close(1_000);
    expect(fake.reports).to.have.length(1);
    return fake.reports[0] as AnsweredRequest;
  };
  const requestIdOf = (response: ApiResponse): string | null => response.headers.get("x-request-id");

  it("names the account, the route, the status and the client", async () => {
    await start();
    const response = await fake.api.get("/api/v1/credits?a=b", { "X-Client": "a player" });
    const report = await reported();
    expect(report).to.deep.equal({
      requestId: requestIdOf(response),
      accountId: fake.account.id,
      method: "GET",
      path: "/api/v1/credits",
      route: "/api/v1/credits",
      status: 200,
      errorCode: null,
      requestBytes: null,
      responseBytes: response.text.length,
      jobId: null,
      client: "a player",
      startedAt: report.startedAt,
    });
  });

  it("has the job, the client label and the byte counts of a generation", async () => {
    await start();
    const body = JSON.stringify({ ...A_GENERATION, client: "🎧".repeat(60) });
    const response = await fake.api.generate(body, { "X-Client": "not this one" });
    expect(await reported()).to.include({
      method: "POST",
      status: 202,
      requestBytes: Buffer.byteLength(body),
      jobId: dataOf(response)["id"],
      client: "🎧".repeat(60),
    });
  });

  it("has the error code and the route template", async () => {
    await start();
    await fake.api.get("/api/v1/generations/job_nothing");
    expect(await reported()).to.include({
      path: "/api/v1/generations/job_nothing",
      route: "/api/v1/generations/{id}",
      status: 404,
      errorCode: "job_not_found",
    });
  });

  it("has the error code of a recorded 502", async () => {
    const record = { response: { status: 502, body: '{"error":{"code":"provider_timeout"}}' }, jobId: "job_x" };
    await start({ acceptGeneration: { execute: () => Promise.resolve({ kind: "replayed", record } as never) } });
    const result = await fake.api.generate();
    expect([result.status, result.text]).to.deep.equal([502, record.response.body]);
    expect(await reported()).to.include({ status: 502, errorCode: "provider_timeout", jobId: "job_x" });
  });

  it("counts no body bytes for HEAD", async () => {
    await start();
    await fake.api.send("HEAD", "/api/v1/credits");
    expect(await reported()).to.include({ method: "HEAD", responseBytes: 0 });
  });

  it("has status 499 when the client disconnects before the response", async () => {
    const gone = new AbortController();
    let noticed: Promise<unknown> = Promise.resolve();
    const wait: HttpDeps["waitForJob"]["wait"] = async (_id, _ms, signal) => {
      noticed = once(signal as AbortSignal, "abort");
      gone.abort();
      await noticed;
      return undefined;
    };
    await start({ waitForJob: { wait } });
    await fake.api.generate(undefined, { Prefer: "wait=20" }, gone.signal).catch(() => undefined);
    await noticed;
    const report = await reported();
    expect(report).to.include({ status: 499, method: "POST" });
    expect(report.jobId).to.match(/^job_/);
  });

  it("has the client label of the body, not of the header, when a generation is refused", async () => {
    await start();
    await fake.api.generate({ client: "studio" }, { "X-Client": "a player" });
    expect(await reported()).to.include({ status: 400, client: "studio" });
  });

  it("has no client label when the request has none", async () => {
    await start();
    await fake.api.generate({ ...A_GENERATION, client: 7 }, { "X-Client": "a player" });
    expect(await reported()).to.include({ status: 400, client: null });
  });

  it("is not sent for requests without an authenticated account", async () => {
    await start({ authenticate: { identify: () => Promise.reject(new InvalidApiKeyError()) } });
    await fake.api.get("/api/v1/credits");
    await fake.api.get("/nothing");
    await fake.api.get("/healthz");
    await fake.http.close(1_000);
    expect(fake.reports).to.deep.equal([]);
  });

  it("does not affect the response when the reporter throws", async () => {
    await start({
      onCompleted: () => {
        throw new Error("the log is full");
      },
    });
    expect((await fake.api.get("/api/v1/credits")).status).to.equal(200);
    expect((await fake.api.get("/api/v1/credits")).status).to.equal(200);
    await fake.http.close(1_000);
    const errors = fake.logger.lines.filter(({ level }) => level === "error");
    expect(errors.map(({ message }) => message)).to.deep.equal(Array(2).fill("A request could not be reported"));
  });
});
