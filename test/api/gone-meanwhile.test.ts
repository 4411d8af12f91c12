import { expect } from "chai";
import type { Resolution } from "../../core/ports/address-guard.js";
import { type ApiResponse, dataOf, refusalOf } from "../support/api-client.js";
import { sqliteStorage } from "../support/databases.js";
import { FaultyPort } from "../support/doubles/faulty-port.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const ENDPOINTS = "/api/v1/webhook-endpoints";

describe("What another request deletes between the look and the change", () => {
  let storage: StorageUnderTest;
  let test: TestApp;
  let caller: TestAccount;
  /** The other request, made once: after what is to be changed was found. */
  let other: (() => Promise<ApiResponse>) | null = null;
  let otherResponse: ApiResponse | null = null;
  const runOther = async (): Promise<void> => {
    const run = other;
    other = null;
    if (run !== null) otherResponse = await run();
  };
  before(async () => {
    storage = await sqliteStorage.open();
    const library = new FaultyPort(storage.library).on("findTracks", async (call, ids) => {
      const found = await call(ids);
      await runOther();
      return found;
    });
    const addressGuard = new (class extends StubGuard {
      override async resolve(hostname: string, maxMs: number): Promise<Resolution> {
        await runOther();
        return super.resolve(hostname, maxMs);
      }
    })();
    test = await startTestApp({ ...UNHEARD, stores: { ...storage, library }, addressGuard });
    caller = await test.account();
  });
  after(async () => {
    await test.close();
    await storage.close();
  });
  afterEach(() => {
    expect(test.logger.lines.filter(({ level }) => level === "error")).to.deep.equal([]);
  });

  const remove = (path: string): Promise<ApiResponse> => caller.api.send("DELETE", path);

  it("is a track that is not found, and stays deleted", async () => {
    const fixture = await LibraryFixture.open(test.app);
    const { rain } = await fixture.add(caller.account.id, { rain: {} });
    await fixture.close();
    const path = `/api/v1/tracks/${rain}`;
    other = () => remove(path);
    expect(refusalOf(await remove(path))).to.equal("404 track_not_found");
    expect(otherResponse?.status).to.equal(204);
    expect(refusalOf(await caller.api.get(path))).to.equal("404 track_not_found");
  });

  it("is a webhook endpoint that is not found, and stays deleted", async () => {
    const headers = { "Content-Type": "application/json" };
    const body = { url: "https://hooks.example.com/one" };
    const { id } = dataOf<{ id: string }>(await caller.api.send("POST", ENDPOINTS, { headers, body }));
    const path = `${ENDPOINTS}/${id}`;
    other = () => remove(path);
    const changed = { url: "https://hooks.example.com/two" };
    const response = await caller.api.send("PATCH", path, { headers, body: changed });
    expect(refusalOf(response)).to.equal("404 webhook_endpoint_not_found");
    expect(otherResponse?.status).to.equal(200);
    expect(dataOf<{ webhook_endpoints: unknown[] }>(await caller.api.get(ENDPOINTS)).webhook_endpoints).to.deep.equal(
      [],
    );
  });
});
