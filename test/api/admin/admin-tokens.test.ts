import { expect } from "chai";
import { SystemClock } from "../../../adapters/system/clock.js";
import { dataOf, errorOf, refusalOf } from "../../support/api-client.js";
import { sqliteStorage } from "../../support/databases.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import type { StorageUnderTest } from "../../support/storage-under-test.js";
import type { TestApp } from "../../support/test-app.js";
import { AdminClient, startAdminApp } from "./admin-client.js";

const HOUR_MS = 3_600_000;

describe("Tokens of operators", () => {
  let storage: StorageUnderTest;
  let test: TestApp;
  let owner: AdminClient;
  let url: string;
  let passedMs = 0;
  let isStorageGone = false;
  before(async () => {
    storage = await sqliteStorage.open();
    const tokens = new FaultyPort(storage.adminTokens);
    const adminTokens = tokens.failOn(
      "findAdminToken",
      () => new Error("gone"),
      () => isStorageGone,
    );
    const clock = {
      now: () => Date.now() + passedMs,
      sleep: (ms: number, signal?: AbortSignal) => new SystemClock().sleep(ms, signal),
    };
    ({ test, owner, url } = await startAdminApp({ stores: { ...storage, adminTokens }, clock }));
  });
  afterEach(() => {
    passedMs = 0;
    isStorageGone = false;
  });
  after(async () => {
    await test.close();
    await storage.close();
  });

  it("end at the moment that was given for it", async () => {
    const expiresAt = Math.ceil(Date.now() / 1_000) * 1_000 + HOUR_MS;
    const wanted = { name: "for an hour", role: "read", expires_at: new Date(expiresAt).toISOString() };
    const { token } = dataOf<{ token: string }>(await owner.send("POST", "/tokens", wanted));
    const client = new AdminClient(url, token);
    expect(dataOf(await client.get("/me"))).to.deep.equal({ name: "for an hour", role: "read" });
    passedMs = expiresAt - Date.now();
    const response = await client.get("/me");
    expect([refusalOf(response), errorOf(response).message]).to.deep.equal([
      "401 revoked_api_key",
      "The admin token has expired.",
    ]);
  });

  it("have a role that there is", async () => {
    const before = await test.app.adminTokens.list();
    for (const role of ["root", "", "Owner"])
      expect(
        await test.app.adminTokens.issue({ name: "x", role }).catch((error: unknown) => (error as Error).message),
      ).to.equal(`Roles are read, operate, owner; got ${role}.`);
    expect(await test.app.adminTokens.list()).to.deep.equal(before);
  });

  it("are looked for only where they have the form of one: what was made up costs no query", async () => {
    isStorageGone = true;
    const { token } = dataOf<{ token: string }>(await owner.send("POST", "/tokens", { name: "x", role: "read" }));
    expect((await new AdminClient(url, token).get("/me")).status).to.equal(500);
    for (const madeUp of [`${token}x`, token.slice(0, -1), token.replace("fra_", "frb_"), "x"])
      expect(refusalOf(await new AdminClient(url, madeUp).get("/me")), madeUp).to.equal("401 invalid_api_key");
  });
});
