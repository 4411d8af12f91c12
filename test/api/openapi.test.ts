import { expect } from "chai";
import type { OpenApiDocument, Operation, Response, Schema } from "../../adapters/http/openapi/model.js";
import { STATUS_BY_CODE } from "../../adapters/http/index.js";
import { packageVersion } from "../../config/version.js";
import type { ErrorCode } from "../../core/error-codes.js";
import { A_GENERATION, type ApiResponse, dataOf } from "../support/api-client.js";
import { submitCompletes, submitFails, submitHolds, SCRIPTED_TRACK } from "../support/doubles/scripted-provider.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { issuesIn, resolve } from "./json-schema.js";

interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

describe("GET /openapi.json", () => {
  let test: TestApp;
  let document: OpenApiDocument;
  let operations: readonly DescribedOperation[];
  before(async () => {
    test = await startTestApp({ ...UNHEARD, work: true });
    const response = await test.anonymous.get("/openapi.json");
    expect(response.status).to.equal(200);
    document = response.json as OpenApiDocument;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
  });
  after(() => test.close());

  const schemas = (): { [name: string]: Schema } => document.components.schemas;
  const responses = (): { readonly where: string; readonly status: string; readonly response: Response }[] =>
    operations.flatMap(({ method, path, operation }) =>
      Object.entries(operation.responses).map(([status, response]) => ({
        where: `${method} ${path} ${status}`,
        status,
        response,
      })),
    );

  it("is OpenAPI 3.1, of interface version 1.0.0, at the public URL", () => {
    expect(document.openapi).to.equal("3.1.0");
    expect(document.info.version).to.equal("1.0.0");
    expect(document.info["x-fermata-version"]).to.equal(packageVersion());
    expect(document.servers).to.deep.equal([{ url: test.url }]);
  });

  it("describes exactly the existing endpoints, with their required scopes", () => {
    const described = operations.map(
      ({ method, path, operation }) => `${method} ${path} ${operation.security[0]?.["bearer"]?.join(" ")}`,
    );
    expect(described).to.have.members([
      "GET /api/v1/me profile:read",
      "GET /api/v1/credits credits:read",
      "GET /api/v1/usage profile:read",
      "GET /api/v1/logs profile:read",
      "GET /api/v1/models models:read",
      "GET /api/v1/models/{model_id} models:read",
      "POST /api/v1/generations generations:create",
      "GET /api/v1/generations generations:read",
      "GET /api/v1/generations/{id} generations:read",
      "GET /api/v1/jobs/{job_id} generations:read",
      "GET /api/v1/jobs/{job_id}/events generations:read",
      "POST /api/v1/jobs/{job_id}/cancel generations:create",
      "GET /api/v1/events generations:read",
      "GET /api/v1/library/search library:read",
      "POST /api/v1/tracks generations:create",
      "GET /api/v1/tracks/{id} library:read",
      "DELETE /api/v1/tracks/{id} generations:create",
      "GET /api/v1/tracks/{id}/details library:read",
      "POST /api/v1/tracks/{id}/stems generations:create",
      "POST /api/v1/tracks/{id}/vocal-removal generations:create",
      "POST /api/v1/tracks/{id}/share generations:create",
      "DELETE /api/v1/tracks/{id}/share generations:create",
      "GET /api/v1/playlists library:read",
      "GET /api/v1/playlists/{id} library:read",
      "POST /api/v1/playlists generations:create",
      "PATCH /api/v1/playlists/{id} generations:create",
      "DELETE /api/v1/playlists/{id} generations:create",
      "GET /api/v1/webhook-endpoints ",
      "POST /api/v1/webhook-endpoints ",
      "PATCH /api/v1/webhook-endpoints/{id} ",
      "DELETE /api/v1/webhook-endpoints/{id} ",
    ]);
  });

  it("has a unique id for every operation, and every path parameter", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const { path, operation } of operations) {
      const inPath = operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `{${name}}`);
      expect(path.match(/\{\w+\}/g) ?? []).to.have.members(inPath);
      expect(operation.summary, path).to.be.a("string");
      expect(operation.description, path).to.be.a("string");
    }
  });

  it("has no dangling reference and no unused schema", () => {
    const text = JSON.stringify(document);
    const used = new Set([...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name));
    expect([...used]).to.have.members(Object.keys(schemas()));
    for (const [, name] of text.matchAll(/"\$ref":"#\/components\/headers\/([\w-]+)"/g))
      expect(document.components.headers).to.have.property(name as string);
  });

  it("has examples that match their schemas", () => {
    for (const { where, status, response } of responses()) {
      if (status === "204" || status === "304") continue;
      const media = Object.values(response.content ?? {})[0];
      const examples = Object.entries(media?.examples ?? {});
      expect(examples, where).not.to.have.length(0);
      for (const [name, { value }] of examples)
        expect(issuesIn(value, media?.schema ?? {}, schemas()), `${where} ${name}`).to.deep.equal([]);
    }
    for (const { operation } of operations) {
      const body = operation.requestBody?.content["application/json"];
      if (body === undefined) continue;
      const value = body.examples?.["request"]?.value;
      expect(issuesIn(value, body.schema ?? {}, schemas()), operation.operationId).to.deep.equal([]);
    }
  });

  it("has bodies that the server accepts as they are printed", async () => {
    const { api } = await test.account();
    const printed = (method: string, path: string): unknown =>
      document.paths[path]?.[method]?.requestBody?.content["application/json"]?.examples?.["request"]?.value;
    const headers = { "Content-Type": "application/json" };
    const endpoints = "/api/v1/webhook-endpoints";
    const created = await api.send("POST", endpoints, { headers, body: printed("post", endpoints) });
    expect(created.status).to.equal(201);
    const { id, url } = dataOf<{ readonly id: string; readonly url: string }>(created);
    const body = printed("patch", `${endpoints}/{id}`);
    const changed = await api.send("PATCH", `${endpoints}/${id}`, { headers, body });
    expect(dataOf(changed)).to.include({ url, status: "disabled" });
  });

  it("lists every error code under its status", () => {
    for (const { where, status, response } of responses()) {
      if (Number(status) < 400) continue;
      const codes = Object.keys(response.content?.["application/json"]?.examples ?? {}) as ErrorCode[];
      for (const code of codes) expect(STATUS_BY_CODE[code], `${where} ${code}`).to.equal(Number(status));
    }
  });

  it("has the request limits of the contract", () => {
    const { prompt, lyrics, client, options } = schemas()["GenerationRequest"]?.properties ?? {};
    const value = { type: ["string", "number", "boolean"] };
    expect(options).to.deep.include({ maxProperties: 20, additionalProperties: value });
    expect([
      prompt?.minLength,
      prompt?.maxLength,
      lyrics?.maxLength,
      client?.minLength,
      client?.maxLength,
    ]).to.deep.equal([1, 3_000, 10_000, 1, 100]);
    const schemaOf = (id: string, name: string): Schema | undefined => {
      const { parameters } = operations.find(({ operation }) => operation.operationId === id)?.operation ?? {};
      return parameters?.find((parameter) => parameter.name === name)?.schema;
    };
    expect(schemaOf("listGenerations", "limit")).to.include({ type: "integer", minimum: 1, maximum: 50, default: 20 });
    expect(schemaOf("createGeneration", "Idempotency-Key")).to.include({ minLength: 1, maxLength: 255 });
    expect(schemaOf("listLogs", "limit")).to.include({ type: "integer", minimum: 1, maximum: 100, default: 50 });
    expect(schemaOf("getUsage", "status")).to.include({ type: "integer", minimum: 100, maximum: 599 });
    expect(schemaOf("searchLibrary", "limit")).to.include({ type: "integer", minimum: 1, maximum: 25, default: 10 });
    for (const name of ["q", "mood", "activity"])
      expect(schemaOf("searchLibrary", name)).to.include({ type: "string", maxLength: 200 });
    for (const name of ["from", "to"])
      expect(schemaOf("getUsage", name)).to.include({ type: "string", format: "date-time" });
  });

  describe("describes the actual responses", () => {
    const check = (method: string, path: string, result: ApiResponse): void => {
      const operation = document.paths[path]?.[method.toLowerCase()];
      const response = operation?.responses[result.status];
      const where = `${method} ${path} ${result.status}: ${result.text}`;
      expect(response, where).not.to.equal(undefined);
      const schema = response?.content?.["application/json"]?.schema ?? {};
      expect(issuesIn(result.json, schema, schemas()), where).to.deep.equal([]);
      for (const header of Object.keys(response?.headers ?? {})) {
        const isOptional = ["Idempotent-Replayed", "Preference-Applied"].includes(header);
        if (!isOptional) expect(result.headers.get(header), `${where} ${header}`).to.be.a("string");
      }
    };

    const reads = (id: string): readonly (readonly [template: string, path: string])[] => [
      ["/api/v1/me", "/api/v1/me"],
      ["/api/v1/credits", "/api/v1/credits"],
      ["/api/v1/usage", "/api/v1/usage"],
      ["/api/v1/logs", "/api/v1/logs"],
      ["/api/v1/models", "/api/v1/models"],
      ["/api/v1/models/{model_id}", "/api/v1/models/scripted%2Fsong"],
      ["/api/v1/generations", "/api/v1/generations"],
      ["/api/v1/generations/{id}", `/api/v1/generations/${id}`],
      ["/api/v1/jobs/{job_id}", `/api/v1/jobs/${id}`],
      ["/api/v1/events", "/api/v1/events"],
      ["/api/v1/library/search", "/api/v1/library/search"],
      ["/api/v1/tracks/{id}", "/api/v1/tracks/trk_x"],
      ["/api/v1/playlists", "/api/v1/playlists"],
      ["/api/v1/playlists/{id}", "/api/v1/playlists/pls_x"],
      ["/api/v1/webhook-endpoints", "/api/v1/webhook-endpoints"],
    ];
    const checkReads = async ({ api }: Pick<TestAccount, "api">, id: string): Promise<void> => {
      for (const [template, path] of reads(id)) check("GET", template, await api.get(path));
    };

    it("of reads with completed and failed jobs", async () => {
      const caller = await test.account();
      for (const behaviour of [submitCompletes, submitFails("content_rejected")]) {
        test.provider.behaviour = behaviour;
        const created = await caller.api.generate({ ...A_GENERATION, metadata: { a: [1] } }, { Prefer: "wait=20" });
        check("POST", "/api/v1/generations", created);
        await checkReads(caller, dataOf<{ readonly id: string }>(created).id);
      }
    });

    it("of reads of a library with tracks", async () => {
      const caller = await test.account();
      const library = await LibraryFixture.open(test.app);
      const { list, rain } = await library.add(
        caller.account.id,
        { rain: {}, silent: { hasAudio: false } },
        { list: { tracks: ["silent", "rain"] } },
      );
      await library.close();
      await test.app.library.manage.share(rain ?? "");
      check("GET", "/api/v1/library/search", await caller.api.get("/api/v1/library/search?q=rain"));
      check("GET", "/api/v1/tracks/{id}", await caller.api.get(`/api/v1/tracks/${rain}`));
      check("GET", "/api/v1/playlists", await caller.api.get("/api/v1/playlists"));
      check("GET", "/api/v1/playlists/{id}", await caller.api.get(`/api/v1/playlists/${list}`));
    });

    it("of a track with lyrics", async () => {
      const words = [{ text: "Rain", startSeconds: 0.25, endSeconds: 1 }];
      test.provider.behaviour = () =>
        Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, lyrics: { text: "Rain", words } }] });
      const { api } = await test.account();
      const { id } = dataOf<{ readonly id: string }>(await api.generate(A_GENERATION, { Prefer: "wait=20" }));
      const generation = dataOf<{ readonly tracks: readonly { readonly id: string }[] }>(
        await api.get(`/api/v1/generations/${id}`),
      );
      const response = await api.get(`/api/v1/tracks/${generation.tracks[0]?.id}`);
      expect(dataOf(response)).to.have.property("lyrics");
      check("GET", "/api/v1/tracks/{id}", response);
    });

    it("of refused reads", async () => {
      await checkReads({ api: test.anonymous }, "job_x");
      await checkReads(await test.account({ acceptTerms: false }), "job_x");
      await checkReads(await test.account({ scopes: ["library:read"] }), "job_x");
      await checkReads(await test.account({ scopes: ["models:read"] }), "job_x");
      const caller = await test.account();
      await checkReads(caller, "job_x");
      check("GET", "/api/v1/generations", await caller.api.get("/api/v1/generations?limit=0"));
      check("GET", "/api/v1/logs", await caller.api.get("/api/v1/logs?limit=0"));
      check("GET", "/api/v1/library/search", await caller.api.get("/api/v1/library/search?limit=0"));
      check("GET", "/api/v1/webhook-endpoints", await caller.api.get("/api/v1/webhook-endpoints?status=lost"));
      check("GET", "/api/v1/usage", await caller.api.get("/api/v1/usage?from=now"));
      check("GET", "/api/v1/models/{model_id}", await caller.api.get("/api/v1/models/%zz").then(withoutAllowance));
      check("GET", "/api/v1/models/{model_id}", await caller.api.get("/api/v1/models/nothing"));
    });

    it("of refused generations", async () => {
      const [caller, poor, free] = [
        await test.account(),
        await test.account({ credits: 0 }),
        await test.account({ tier: "free" }),
      ];
      const key = { "Idempotency-Key": "k" };
      const { behaviour, release } = submitHolds();
      test.provider.behaviour = behaviour;
      const seen = test.provider.submissions.length;
      await caller.api.generate(A_GENERATION, key);
      await free.api.generate();
      await test.provider.submitted(seen + 2);
      test.provider.behaviour = submitFails("timeout");
      const responses = [
        await test.anonymous.generate(),
        await caller.api.generate({}),
        await caller.api.generate({ ...A_GENERATION, model_id: "no/model" }),
        await caller.api.send("POST", "/api/v1/generations", {
          headers: { "Content-Type": "application/json" },
          body: {},
        }),
        await poor.api.generate(),
        await free.api.generate(),
        await caller.api.generate({ ...A_GENERATION, prompt: "snow" }, key),
        await caller.api.generate({ ...A_GENERATION, client: "x" }, key),
        await caller.api.generate("x".repeat(300_000)),
        await caller.api.generate("x", { "Content-Type": "text/plain" }),
        await caller.api.generate(undefined, { Prefer: "wait=20" }),
        await caller.api.generate({ model_id: "synth/song", prompt: "x" }),
      ];
      release();
      expect(responses.map(({ status }) => status)).to.deep.equal([
        401, 400, 400, 400, 402, 409, 409, 409, 413, 415, 502, 502,
      ]);
      for (const response of responses) check("POST", "/api/v1/generations", response);
    });
  });

  it("uses only JSON Schema keywords", () => {
    for (const [name, schema] of Object.entries(schemas())) {
      const unknown = issuesIn({}, schema, schemas()).filter((issue) => issue.includes("keyword"));
      expect(unknown, name).to.deep.equal([]);
      expect(resolve(`#/components/schemas/${name}`, schemas())).to.equal(schema);
    }
  });
});

/** A path that cannot be decoded has no route, so it is not authenticated. */
function withoutAllowance(response: ApiResponse): ApiResponse {
  const headers = new Headers(response.headers);
  headers.set("RateLimit", "");
  headers.set("RateLimit-Policy", "");
  return { ...response, headers };
}
