import { expect } from "chai";
import { A_GENERATION, type ApiClient, dataOf, issuePaths, refusalOf } from "../support/api-client.js";
import { anId } from "../support/builders.js";
import { submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { RecordingSender } from "../support/doubles/recording-sender.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

interface Event {
  readonly id: string;
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: { readonly job_id: string } };
}

interface Page {
  readonly events: readonly Event[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

const WAIT = { Prefer: "wait=20" };
const PATH = "/api/v1/events";
/** `evt_` and a ULID of the year 2001. */
const LONG_AGO = "evt_00vhnczb00000000000000000z";

describe("GET /api/v1/events", () => {
  let test: TestApp;
  const sender = new RecordingSender();
  let api: ApiClient;
  before(async () => {
    test = await startTestApp({ work: true, webhookSender: sender, addressGuard: new StubGuard() });
  });
  beforeEach(async () => {
    ({ api } = await test.account());
  });
  after(() => test.close());

  const page = async (query = ""): Promise<Page> => dataOf<Page>(await api.get(`${PATH}${query}`));
  async function generate(behaviour: typeof submitCompletes = submitCompletes): Promise<string> {
    test.provider.behaviour = behaviour;
    const given = { ...A_GENERATION, client: "ci", metadata: { commit: "1a2b" } };
    return dataOf<{ readonly id: string }>(await api.generate(given, WAIT)).id;
  }

  it("has the events of an account without endpoints, the oldest first", async () => {
    expect(await page()).to.deep.equal({ events: [], next_cursor: null, has_more: false });
    const jobs = [await generate(), await generate(submitFails("failed")), await generate()];
    const { events, next_cursor, has_more } = await page();
    expect(events.map(({ body }) => [body.type, body.data.job_id])).to.deep.equal([
      ["generation.completed", jobs[0]],
      ["generation.failed", jobs[1]],
      ["generation.completed", jobs[2]],
    ]);
    expect([next_cursor, has_more]).to.deep.equal([events[2]?.id, false]);
    expect(events[0]?.body.data).to.deep.include({ client: "ci", metadata: { commit: "1a2b" }, status: "completed" });
  });

  it("pages by next_cursor, and goes on with what happens later", async () => {
    const jobs = [await generate(), await generate(), await generate()];
    const first = await page("?limit=2");
    expect([first.events.length, first.has_more]).to.deep.equal([2, true]);
    const second = await page(`?limit=2&after=${first.next_cursor}`);
    expect([...first.events, ...second.events].map(({ body }) => body.data.job_id)).to.deep.equal(jobs);
    expect(second.has_more).to.equal(false);
    const end = await page(`?after=${second.next_cursor}`);
    expect(end).to.deep.equal({ events: [], next_cursor: second.next_cursor, has_more: false });
    const later = await generate();
    expect((await page(`?after=${end.next_cursor}`)).events.map(({ body }) => body.data.job_id)).to.deep.equal([later]);
  });

  it("has the body of the delivery, byte for byte, under its webhook-id", async () => {
    const headers = { "Content-Type": "application/json" };
    await api.send("POST", "/api/v1/webhook-endpoints", { headers, body: { url: "https://hooks.example.com/e" } });
    await generate();
    const { events } = await page();
    const [message] = await sender.sent(1);
    expect(events.map(({ id }) => id)).to.deep.equal([message?.eventId]);
    expect(JSON.stringify(events[0]?.body)).to.equal(message?.body);
  });

  it("begins with the oldest event behind one that is not kept any more", async () => {
    const job = await generate();
    expect((await page(`?after=${LONG_AGO}`)).events.map(({ body }) => body.data.job_id)).to.deep.equal([job]);
  });

  it("refuses a cursor that is none of this account's, and names it", async () => {
    await generate();
    const { next_cursor: own } = await page();
    const stranger = (await test.account()).api;
    for (const [client, after] of [
      [api, "yesterday"],
      [api, anId("evt")],
      [stranger, own],
    ] as const) {
      const response = await client.get(`${PATH}?after=${after}`);
      expect(refusalOf(response)).to.equal("400 invalid_request");
      expect(issuePaths(response)).to.deep.equal(["query.after"]);
    }
    for (const limit of ["0", "101", "x"])
      expect(issuePaths(await api.get(`${PATH}?limit=${limit}`))).to.deep.equal(["query.limit"]);
  });

  it("needs the scope generations:read, and shows nothing of other accounts", async () => {
    await generate();
    const other = await test.account({ scopes: ["generations:read"] });
    expect(dataOf<Page>(await other.api.get(PATH)).events).to.deep.equal([]);
    const without = await test.account({ scopes: ["profile:read"] });
    expect(refusalOf(await without.api.get(PATH))).to.equal("403 insufficient_scope");
  });
});
