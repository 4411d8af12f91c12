import { expect } from "chai";
import { createClient, InvalidRequestError } from "../../../adapters/client/index.js";

/** A server of three pages; the addresses that it was asked for. */
function server() {
  const asked: string[] = [];
  const fetch = (async (request: Request) => {
    const url = new URL(request.url);
    asked.push(url.search);
    const at = url.searchParams.get("cursor") ?? url.searchParams.get("after") ?? "one";
    if (at === "wrong")
      return Response.json({ error: { code: "invalid_request", message: "No.", request_id: "r" } }, { status: 400 });
    const next = { one: "two & more", "two & more": "three" }[at] ?? null;
    return Response.json({ data: { generations: [{ id: at }], ...(next !== null && { next_cursor: next }) } });
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

  it("take the cursor by another name, and throw what a page throws", async () => {
    const { asked, client } = server();
    const pages = client.pages("/api/v1/generations", {}, { cursorName: "after" });
    await pages.next();
    await pages.next();
    expect(asked.at(-1)).to.equal("?after=two%20%26%20more");
    const query = { cursor: "wrong" } as object;
    const error: unknown = await client
      .pages("/api/v1/generations", { params: { query } })
      .next()
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(InvalidRequestError);
  });
});
