import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { OpenApiDocument, Schema, WebhookOperation } from "../../adapters/http/openapi/model.js";
import { A_GENERATION, dataOf } from "../support/api-client.js";
import { submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { SPLIT_SETTINGS, SplittingProvider, submitSplits } from "../support/doubles/splitting-provider.js";
import { FaultReceiver, type ReceivedRequest } from "../support/fault-receiver/receiver.js";
import { UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { issuesIn } from "./json-schema.js";

interface Body {
  readonly type: string;
  readonly data: { readonly [name: string]: unknown };
}

const JSON_BODY = { "Content-Type": "application/json" };

describe("The webhooks of GET /openapi.json", function () {
  this.timeout(60_000);
  let test: TestApp;
  let provider: SplittingProvider;
  let receiver: FaultReceiver;
  let caller: TestAccount;
  let document: OpenApiDocument;
  before(async () => {
    provider = new SplittingProvider();
    receiver = await FaultReceiver.open();
    test = await startTestApp({
      ...UNHEARD,
      work: true,
      plugins: [provider.definition],
      settings: { ...SPLIT_SETTINGS, webhooks: { allowHttp: true, allowNetworks: ["127.0.0.0/8"] } },
    });
    caller = await test.account();
    document = (await test.anonymous.get("/openapi.json")).json as OpenApiDocument;
  });
  after(async () => {
    await test.close();
    await receiver.close();
  });

  const operationOf = (type: string): WebhookOperation => {
    const operation = document.webhooks?.[type]?.post;
    if (operation === undefined) throw new Error(`${type} is not described.`);
    return operation;
  };
  const bodySchemaOf = (type: string): Schema =>
    operationOf(type).requestBody?.content["application/json"]?.schema ?? {};
  const issuesOf = (body: object, type: string): string[] =>
    issuesIn(body, bodySchemaOf(type), document.components.schemas);

  /** One delivery of each type, as the receiver gets them. */
  async function deliveries(): Promise<readonly ReceivedRequest[]> {
    const { api } = caller;
    let count = 0;
    const delivered = async (): Promise<readonly ReceivedRequest[]> => receiver.received((count += 1));
    const url = receiver.url("/ok", { host: "127.0.0.1", server: "http" });
    const created = await api.send("POST", "/api/v1/webhook-endpoints", { headers: JSON_BODY, body: { url } });
    const generation = { ...A_GENERATION, options: { seed: 7 }, client: "ci", metadata: { a: [1, { b: null }] } };
    provider.behaviour = submitCompletes;
    const { id } = dataOf<{ readonly id: string }>(await api.generate(generation));
    await delivered();
    provider.behaviour = submitFails("content_rejected");
    await api.generate(A_GENERATION);
    await delivered();
    const { tracks } = dataOf<{ readonly tracks: readonly { readonly id: string }[] }>(
      await api.get(`/api/v1/generations/${id}`),
    );
    for (const behaviour of [submitSplits, submitFails("failed")]) {
      provider.behaviour = behaviour;
      for (const kind of ["stems", "vocal-removal"]) {
        const headers = { ...JSON_BODY, "Idempotency-Key": randomUUID() };
        dataOf(await api.send("POST", `/api/v1/tracks/${tracks[0]?.id}/${kind}`, { headers, body: { client: "ci" } }));
        await delivered();
      }
    }
    const endpointId = dataOf<{ readonly id: string }>(created).id;
    await test.app.webhooks.ping(endpointId, AbortSignal.timeout(10_000));
    return delivered();
  }

  it("describe real deliveries of every type, without a member too few or too many", async () => {
    const requests = await deliveries();
    const bodies = requests.map(({ body }) => JSON.parse(body.toString()) as Body);
    const types = Object.keys(document.webhooks ?? {});
    expect(bodies.map(({ type }) => type)).to.have.members(types);
    expect(types).to.have.length(7);
    for (const [index, body] of bodies.entries()) {
      const { type, data } = body;
      expect(issuesOf(body, type), type).to.deep.equal([]);
      const [{ parameters }, { headers }] = [operationOf(type), requests[index] as ReceivedRequest];
      for (const { in: place, name, schema, required } of parameters) {
        expect([place, required]).to.deep.equal(["header", true]);
        const text = headers[name] as string;
        expect(issuesIn(schema.type === "integer" ? Number(text) : text, schema, {}), `${type} ${name}`).to.deep.equal(
          [],
        );
      }
      for (const other of types.filter((one) => one !== type))
        expect(issuesOf(body, other), other).to.not.deep.equal([]);
      const wrong = [
        { ...body, more: 1 },
        { ...body, data: { ...data, more: 1 } },
        ...Object.keys(body).map((name) => ({ ...body, [name]: undefined })),
      ];
      for (const one of wrong) {
        const sent = JSON.parse(JSON.stringify(one)) as object;
        expect(issuesOf(sent, type), `${type} ${JSON.stringify(sent)}`).to.not.deep.equal([]);
      }
    }
    const [completed] = bodies;
    expect(completed?.data).to.deep.include({ client: "ci", metadata: { a: [1, { b: null }] }, options: { seed: 7 } });
  });

  it("have an example each that fits, and say how a receiver responds", () => {
    for (const [type, { post }] of Object.entries(document.webhooks ?? {})) {
      const { event } = post.requestBody?.content["application/json"]?.examples ?? {};
      expect(issuesOf(event?.value as object, type), type).to.deep.equal([]);
      for (const { name, schema, example } of post.parameters)
        expect(issuesIn(example, schema, {}), name).to.deep.equal([]);
      expect(Object.keys(post.responses)).to.deep.equal(["204", "410", "503"]);
      expect(post.summary, type).to.be.a("string");
    }
  });
});
