import { expect } from "chai";
import { createClient, InvalidRequestError } from "../../../adapters/client/index.js";

/** A server of three pages; the addresses that it was asked for. */
function server({ isOfEvents = false } = {}) {
  const asked: string[] = [];
  const fetch = (async (request: Request) => {
    const url = new URL(request.url);
    asked.push(url.search);
    const at = url.searchParams.get("cursor") ?? url.searchParams.get("after") ?? "one";
    if (at === "wrong")
      return Response.json({ error: { code: "invalid_request", message: "No.", request_id: "r" } }, { status: 400 });
    const next = { one: "two & more", "two & more": "three" }[at] ?? null;
    if (isOfEvents) return Response.json({ data: { events: [], next_cursor: next ?? at, has_more: next !== null } });
    return Response.json({ data: { generations: [{ id: at }], next_cursor: next } });
  }) as unknown as typeof globalThis.fetch;
  return { asked, client: createClient({ baseUrl: "http://api.example/music/", apiKey: "k", fetch }) };
}

describe("Pages of the client", () => {
  it("follow next_cursor to the last one, with the query that they began with", async () => {
    const { asked, client } = server();
    const ids: string[] = [];
    for await (const { generations } of client.pages("/api/v1/generations", { params: { query: { limit: 1 } } }))
      ids.push(...generations.map(({ id }) => id));
    expect(ids).to.deep.equal(["one", "two & more", "three"]);
    expect(asked).to.deep.equal(["?limit=1", "?limit=1&cursor=two%20%26%20more", "?limit=1&cursor=three"]);
  });

  it("are read when they are asked for: who leaves the loop reads no more", async () => {
    const { asked, client } = server();
    for await (const _ of client.pages("/api/v1/generations")) break;
    expect(asked).to.have.lengthOf(1);
  });

  it("follow events by after, until there are no more", async () => {
    const { asked, client } = server({ isOfEvents: true });
    const cursors: (string | null)[] = [];
    for await (const { next_cursor: next } of client.pages("/api/v1/events")) cursors.push(next);
    expect(asked).to.deep.equal(["", "?after=two%20%26%20more", "?after=three"]);
    expect(cursors, "the last one is there for later").to.deep.equal(["two & more", "three", "three"]);
  });

  it("end with the first where a server of before has no cursors", async () => {
    const fetch = (() => Promise.resolve(Response.json({ data: { logs: [] } }))) as typeof globalThis.fetch;
    const pages = createClient({ baseUrl: "http://api.example", apiKey: "k", fetch }).pages("/api/v1/logs");
    expect([await pages.next(), await pages.next()].map(({ done }) => done)).to.deep.equal([false, true]);
  });

  it("throw what a page throws", async () => {
    const { client } = server();
    const error: unknown = await client
      .pages("/api/v1/generations", { params: { query: { cursor: "wrong" } } })
      .next()
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(InvalidRequestError);
  });
});
