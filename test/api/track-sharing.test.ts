import { expect } from "chai";
import { type ApiResponse, dataOf, refusalOf } from "../support/api-client.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

interface Shared {
  readonly share_url: string | null;
  readonly play_url: string;
}

describe("POST and DELETE /api/v1/tracks/{id}/share", () => {
  let test: TestApp;
  let library: LibraryFixture;
  let caller: TestAccount;
  let trackId: string;
  before(async () => {
    test = await startTestApp({ ...UNHEARD });
    library = await LibraryFixture.open(test.app);
    caller = await test.account();
    ({ rain: trackId = "" } = await library.add(caller.account.id, { rain: { title: "Rain" } }));
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  const send = (method: "POST" | "DELETE", { api }: TestAccount = caller, id = trackId): Promise<ApiResponse> =>
    api.send(method, `/api/v1/tracks/${id}/share`);

  it("open a page, at one address however often, and close it with the links given out before", async () => {
    const shared = await send("POST");
    expect(shared.status).to.equal(200);
    const { share_url: url, play_url: before } = dataOf<Shared>(shared);
    expect(url).to.match(new RegExp(`^${test.url}/share/\\w{22}$`));
    expect(dataOf<Shared>(await send("POST")).share_url).to.equal(url);
    expect((await fetch(url ?? "")).status).to.equal(200);
    expect(shared.headers.get("ratelimit")).to.match(/^"write-minute"/);

    const closed = dataOf<Shared>(await send("DELETE"));
    expect(closed.share_url).to.equal(null);
    expect((await fetch(url ?? "")).status).to.equal(404);
    expect((await fetch(before)).status).to.equal(403);
    expect((await fetch(closed.play_url)).status).to.equal(200);
    expect(dataOf<Shared>(await send("DELETE")).share_url).to.equal(null);
    expect(dataOf<Shared>(await send("POST")).share_url).to.not.equal(url);
  });

  it("are for the owner alone, with the scope generations:create", async () => {
    const other = await test.account();
    const { open } = await library.add(null, { open: { visibility: "public" } });
    for (const method of ["POST", "DELETE"] as const) {
      expect(refusalOf(await send(method, other))).to.equal("404 track_not_found");
      expect(refusalOf(await send(method, caller, open))).to.equal("404 track_not_found");
      expect(refusalOf(await send(method, caller, "trk_unknown"))).to.equal("404 track_not_found");
      const reader = await test.account({ scopes: ["library:read"] });
      expect(refusalOf(await send(method, reader))).to.equal("403 insufficient_scope");
    }
  });

  it("are no entries of the audit log, which is of operators", async () => {
    await send("POST");
    const records = await test.app.audit.list({ limit: 50 });
    expect(records.map(({ action }) => action)).to.not.include("library.share");
  });
});
