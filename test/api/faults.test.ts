import { expect } from "chai";
import type { HttpDeps } from "../../adapters/http/index.js";
import { InvalidApiKeyError, OperationRefusedError, ServiceUnavailableError } from "../../core/errors.js";
import { dataOf, refusalOf } from "../support/api-client.js";
import { eventually } from "../support/process.js";
import { type FakeHttp, startFakeHttp } from "./fake-parts.js";

const SECRET = "Tokenof22characters000";
const broken = (): Promise<never> => Promise.reject(new Error("a bug, with a secret in it"));

describe("A fault in a use case", () => {
  let fake: FakeHttp;
  const start = async (parts: Partial<HttpDeps> = {}, generationsPerMinute?: number): Promise<void> => {
    fake = await startFakeHttp(parts, generationsPerMinute);
  };
  afterEach(() => fake.close());

  it("during authentication returns 500, not 401, and does not count as a failed authentication", async () => {
    let fails = true;
    const identify = (): Promise<never> => (fails ? broken() : Promise.reject(new InvalidApiKeyError()));
    await start({ authenticate: { identify } });
    for (let count = 0; count < 5; count++)
      expect(refusalOf(await fake.api.get("/api/v1/me"))).to.equal("500 internal_error");
    fails = false;
    expect(refusalOf(await fake.api.get("/api/v1/me"))).to.equal("401 invalid_api_key");
  });

  it("shows no details, and is logged once with the request's id", async () => {
    await start({ credits: { balance: broken } });
    const response = await fake.api.get("/api/v1/credits");
    expect(refusalOf(response)).to.equal("500 internal_error");
    expect(response.text).not.to.include("bug");
    const errors = fake.logger.lines.filter(({ level }) => level === "error");
    expect(errors).to.have.length(1);
    expect(errors[0]?.fields["request_id"]).to.equal(response.headers.get("x-request-id"));
  });

  for (const [method, path, shown] of [
    ["GET", `/share/${SECRET}`, "/share/***"],
    ["GET", `/share/${SECRET}/audio`, "/share/***"],
    ["GET", `/share/${SECRET}/cover?x=1`, "/share/***"],
    ["POST", `/callbacks/synth/job_1/${SECRET}`, "/callbacks/synth/job_1/***"],
    ["POST", `/callbacks/synth/job_1/${SECRET}/?x=1`, "/callbacks/synth/job_1/***"],
  ] as const) {
    it(`is logged without the secret in ${method} ${path}, and the request log has no row with it`, async () => {
      const publicLinks = { findSharedTrack: broken, isSuspended: broken };
      const receiveCallback = { isAddress: () => Promise.resolve(true), receive: broken };
      await start({ publicLinks, receiveCallback });
      const response = await fetch(fake.url + path, { method, headers: { Authorization: "Bearer any" } });
      expect(response.status).to.equal(500);
      await eventually("the line of the request", () => fake.logger.lines.some(({ level }) => level === "debug"));
      expect(fake.logger.lines.map(({ level, fields }) => [level, fields["path"]])).to.deep.equal([
        ["error", shown],
        ["debug", shown],
      ]);
      expect(JSON.stringify(fake.logger.lines)).not.to.include(SECRET);
      expect(fake.reports).to.deep.equal([]);
    });
  }

  it("covers errors that only an operator or an embedding app can cause", async () => {
    await start({
      credits: { balance: () => Promise.reject(new OperationRefusedError("There is no account acct_x.")) },
    });
    expect(refusalOf(await fake.api.get("/api/v1/credits"))).to.equal("500 internal_error");
  });

  it("returns 500 over the generation limit too, because the idempotency record is unknown", async () => {
    const errors: Error[] = [new ServiceUnavailableError(), new Error("a bug")];
    const execute: HttpDeps["acceptGeneration"]["execute"] = ({ limitExceeded }) => {
      expect(limitExceeded?.code).to.equal("rate_limited");
      return Promise.reject(errors.shift() ?? new Error("asked too often"));
    };
    await start({ acceptGeneration: { execute } }, 0);
    expect(refusalOf(await fake.api.generate())).to.equal("503 service_unavailable");
    expect(refusalOf(await fake.api.generate())).to.equal("500 internal_error");
  });

  for (const [what, parts] of [
    ["waiting fails", { waitForJob: { wait: broken } }],
    ["the response cannot be recorded", { recordResponse: broken }],
  ] as const) {
    it(`returns the acceptance when ${what}: it is the recorded response`, async () => {
      await start(parts);
      const response = await fake.api.generate(undefined, { Prefer: "wait=20" });
      expect(response.status).to.equal(202);
      expect(dataOf(response)["status"]).to.equal("queued");
    });
  }

  it("returns an error when the storage fails before the response is known; a retry returns it", async () => {
    await start({ recordResponse: () => Promise.reject(new ServiceUnavailableError()) });
    const response = await fake.api.generate(undefined, { Prefer: "wait=20" });
    expect([refusalOf(response), response.headers.get("retry-after")]).to.deep.equal(["503 service_unavailable", "1"]);
  });

  it("leaves no sent response unrecorded: the API records a response before it sends it", async () => {
    const recorded: unknown[] = [];
    await start({ recordResponse: (...given) => Promise.resolve(void recorded.push(given)) });
    const response = await fake.api.generate(undefined, { Prefer: "wait=20", "Idempotency-Key": "k" });
    expect(dataOf(response)["status"]).to.equal("completed");
    expect(recorded).to.deep.equal([
      [fake.account.id, "k", dataOf(response)["id"], { status: 202, body: response.text }],
    ]);
  });
});
