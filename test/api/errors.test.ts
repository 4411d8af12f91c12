import { expect } from "chai";
import { ServiceUnavailableError } from "../../core/errors.js";
import type { AudioStore } from "../../core/ports/audio-store.js";
import { A_GENERATION, type ApiResponse, ApiClient, errorOf, refusalOf } from "../support/api-client.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const KNOWN_PATHS: Readonly<Record<string, string>> = {
  "/api/v1/me": "GET, HEAD, OPTIONS",
  "/api/v1/credits": "GET, HEAD, OPTIONS",
  "/api/v1/usage": "GET, HEAD, OPTIONS",
  "/api/v1/logs": "GET, HEAD, OPTIONS",
  "/api/v1/models": "GET, HEAD, OPTIONS",
  "/api/v1/models/x": "GET, HEAD, OPTIONS",
  "/api/v1/generations": "GET, HEAD, OPTIONS, POST",
  "/api/v1/generations/x": "GET, HEAD, OPTIONS",
  "/api/v1/jobs/x": "GET, HEAD, OPTIONS",
  "/api/v1/tracks/x/details": "GET, HEAD, OPTIONS",
  "/api/v1/tracks/x/stems": "OPTIONS, POST",
  "/api/v1/tracks/x/vocal-removal": "OPTIONS, POST",
  "/api/v1/tracks/x/share": "DELETE, OPTIONS, POST",
  "/api/v1/library/search": "GET, HEAD, OPTIONS",
  "/api/v1/tracks": "OPTIONS, POST",
  "/api/v1/tracks/x": "DELETE, GET, HEAD, OPTIONS",
  "/api/v1/playlists": "GET, HEAD, OPTIONS, POST",
  "/api/v1/playlists/x": "DELETE, GET, HEAD, OPTIONS, PATCH",
  "/healthz": "GET, HEAD, OPTIONS",
  "/audio/x/y.mp3": "GET, HEAD, OPTIONS",
};

describe("An error response", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp();
  });
  after(() => test.close());

  it("has the error envelope, with the request_id of the header", async () => {
    const response = await test.anonymous.get("/api/v1/me");
    const error = errorOf(response);
    expect(response.json).to.deep.equal({
      error: { code: error.code, message: error.message, request_id: error.request_id },
    });
    expect(error.request_id).to.equal(response.headers.get("x-request-id"));
    expect(error.request_id).to.match(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(response.headers.get("content-type")).to.equal("application/json; charset=utf-8");
  });

  describe("404 not_found", () => {
    const wrongCase = ["/api/v1/ME", "/API/v1/me"];
    const incomplete = ["/api", "/api/v1", "/api/v1/jobs", "/api/v1/library"];
    for (const path of [...incomplete, ...wrongCase, "/api/v2/me", "/api/v1/me/x", "/nothing?x=1"]) {
      it(`is returned for ${path}`, async () => {
        expect(refusalOf(await test.anonymous.get(path))).to.equal("404 not_found");
      });
    }
  });

  describe("405 method_not_allowed", () => {
    for (const [path, allow] of Object.entries(KNOWN_PATHS)) {
      it(`is returned for another method on ${path}, with the allowed methods`, async () => {
        for (const method of ["PUT", "DELETE", "PATCH", "POST"].filter((each) => !allow.includes(each))) {
          const response = await test.anonymous.send(method, path);
          expect(refusalOf(response)).to.equal("405 method_not_allowed");
          expect(response.headers.get("allow")).to.equal(allow);
        }
      });

      it(`is not returned for OPTIONS ${path}: 204 with the allowed methods`, async () => {
        const response = await test.anonymous.send("OPTIONS", path);
        expect([response.status, response.headers.get("allow"), response.text]).to.deep.equal([204, allow, ""]);
      });
    }
  });

  describe("401", () => {
    const refusedBy = (authorization: string | null): Promise<ApiResponse> =>
      test.anonymous.get("/api/v1/me", authorization === null ? {} : { Authorization: authorization });

    for (const authorization of [null, "", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "frm_x"]) {
      it(`authentication_required: ${JSON.stringify(authorization)}`, async () => {
        const response = await refusedBy(authorization);
        expect(refusalOf(response)).to.equal("401 authentication_required");
        expect(response.headers.get("www-authenticate")).to.equal("Bearer");
      });
    }

    for (const authorization of [
      "Bearer x",
      "Bearer frm_ x",
      `Bearer frm_${"a".repeat(46)}`,
      `bearer ${"x".repeat(5_000)}`,
    ]) {
      it(`invalid_api_key: ${authorization.slice(0, 20)}`, async () => {
        const response = await refusedBy(authorization);
        expect(refusalOf(response)).to.equal("401 invalid_api_key");
        expect(response.headers.get("www-authenticate")).to.equal('Bearer error="invalid_token"');
      });
    }

    it("revoked_api_key: a revoked key", async () => {
      const { api, keyId } = await test.account();
      await test.app.accounts.revokeKey(keyId);
      const response = await api.get("/api/v1/me");
      expect(refusalOf(response)).to.equal("401 revoked_api_key");
      expect(response.headers.get("www-authenticate")).to.equal('Bearer error="invalid_token"');
    });

    it("is not returned for the scheme in another case", async () => {
      const { key } = await test.account();
      expect((await refusedBy(`bEARER ${key}`)).status).to.equal(200);
    });
  });

  describe("403", () => {
    it("api_terms_not_accepted: until the terms are accepted", async () => {
      const { account, api } = await test.account({ acceptTerms: false });
      const known = Object.entries(KNOWN_PATHS).filter(([, allow]) => allow.includes("GET"));
      const reads = known.map(([path]) => path).filter((path) => path.startsWith("/api/v1/"));
      expect(reads.length).to.be.greaterThan(10);
      for (const path of reads) {
        expect(refusalOf(await api.get(path)), path).to.equal("403 api_terms_not_accepted");
      }
      const { token } = await test.app.accounts.issueKey(account.id);
      await test.app.accounts.acceptTerms(account.id);
      expect((await new ApiClient(test.url, token).get("/api/v1/me")).status).to.equal(200);
    });

    it("insufficient_scope: names the missing scope", async () => {
      const { api } = await test.account({ scopes: ["models:read"] });
      const response = await api.get("/api/v1/credits");
      expect(refusalOf(response)).to.equal("403 insufficient_scope");
      expect(errorOf(response).details).to.deep.equal({ required_scope: "credits:read" });
    });
  });

  describe("415 unsupported_media_type", () => {
    const types = [
      null,
      "",
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/jsonp",
      "application/json; charset=latin1",
    ];
    for (const type of types) {
      it(`is returned for Content-Type ${JSON.stringify(type)}`, async () => {
        const { api } = await test.account();
        const headers = { "Idempotency-Key": "k", ...(type === null ? {} : { "Content-Type": type }) };
        const response = await api.send("POST", "/api/v1/generations", {
          headers,
          body: new TextEncoder().encode("{}"),
        });
        expect(refusalOf(response)).to.equal("415 unsupported_media_type");
      });
    }

    for (const encoding of ["gzip", "deflate", "br", "nonsense"]) {
      it(`is returned for Content-Encoding ${encoding}`, async () => {
        const { api } = await test.account();
        expect(refusalOf(await api.generate(A_GENERATION, { "Content-Encoding": encoding }))).to.equal(
          "415 unsupported_media_type",
        );
      });
    }

    for (const type of [
      "APPLICATION/JSON",
      "application/json;charset=UTF-8",
      'application/json; charset="utf-8"; x=y',
    ]) {
      it(`is not returned for Content-Type ${type}`, async () => {
        const { api } = await test.account();
        expect((await api.generate(A_GENERATION, { "Content-Type": type })).status).to.equal(202);
      });
    }
  });

  it("400 invalid_request: says of a body that is no JSON object what it has to be", async () => {
    const { api, account } = await test.account();
    const withByte = Buffer.from('{"model_id":"scripted/song","prompt":"rain \xff"}', "latin1");
    const bodies: readonly (readonly [body: Uint8Array<ArrayBuffer>, issue: string])[] = [
      [new Uint8Array(), "is required"],
      [withByte, "must be UTF-8"],
      [new TextEncoder().encode("{"), "must be valid JSON"],
      [new TextEncoder().encode("[]"), "must be a JSON object"],
    ];
    for (const [body, issue] of bodies) {
      const response = await api.generate(body);
      expect(refusalOf(response), issue).to.equal("400 invalid_request");
      expect(errorOf(response).message).to.include(`body ${issue}`);
    }
    expect(await test.app.jobs.list({ accountId: account.id, limit: 10 })).to.deep.equal([]);
  });

  it("413 payload_too_large: a body over the limit, with or without Content-Length", async () => {
    const { api } = await test.account();
    const body = JSON.stringify({ ...A_GENERATION, client: "x".repeat(300_000) });
    expect(refusalOf(await api.generate(body))).to.equal("413 payload_too_large");
    const headers = { Authorization: `Bearer ${api.key}`, "Content-Type": "application/json" };
    const chunked = { method: "POST", headers, body: new Blob([body]).stream(), duplex: "half" } as const;
    const response = await fetch(`${test.url}/api/v1/generations`, chunked);
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).to.deep.equal([
      413,
      "payload_too_large",
    ]);
  });
});

/** An audio store whose reads all fail with this error. */
function brokenStore(error: Error): AudioStore {
  return { stat: () => Promise.reject(error) } as unknown as AudioStore;
}

describe("An internal fault", () => {
  const lookAtAudio = async (error: Error): Promise<{ readonly response: ApiResponse; readonly test: TestApp }> => {
    const test = await startTestApp({ audio: brokenStore(error) });
    try {
      const link = test.app.audioUrls.sign("job_x/1/0-mix.mp3");
      return { response: await test.anonymous.get(link.slice(test.url.length)), test };
    } finally {
      await test.close();
    }
  };

  it("returns 500 internal_error without details, and logs the details in one line", async () => {
    const { response: result, test } = await lookAtAudio(new Error("table `secrets` is on fire"));
    expect(refusalOf(result)).to.equal("500 internal_error");
    expect(result.text).not.to.include("fire");
    const lines = test.logger.lines.filter(({ level }) => level === "error");
    expect(lines).to.have.length(1);
    expect(lines[0]?.fields).to.include({ request_id: result.headers.get("x-request-id"), method: "GET" });
    expect(JSON.stringify(lines[0])).to.include("on fire");
    expect(JSON.stringify(lines[0])).not.to.include("signature=");
  });

  it("returns 503 service_unavailable with Retry-After when a service is unavailable", async () => {
    const { response: result } = await lookAtAudio(new ServiceUnavailableError("The storage is unavailable.", 7));
    expect(refusalOf(result)).to.equal("503 service_unavailable");
    expect(result.headers.get("retry-after")).to.equal("7");
  });
});
