import { expect } from "chai";
import type {
  AdminCollection,
  AdminLedgerCheck,
  AdminResend,
  AdminSecrets,
} from "../../../adapters/http/admin/controllers/maintenance.js";
import { dataOf, errorOf, refusalOf } from "../../support/api-client.js";
import { MemoryAudioStore } from "../../support/doubles/memory-audio-store.js";
import { submitCompletes } from "../../support/doubles/scripted-provider.js";
import { FaultReceiver } from "../../support/fault-receiver/receiver.js";
import { eventually } from "../../support/process.js";
import type { TestApp } from "../../support/test-app.js";
import { alongside } from "../storage-reader.js";
import { AdminClient, startAdminApp } from "./admin-client.js";

const TWO_HOURS_MS = 7_200_000;

describe("Maintenance at the admin API", () => {
  let test: TestApp;
  let owner: AdminClient;
  let receiver: FaultReceiver;
  /** Its files were written two hours ago. */
  const audio = new MemoryAudioStore({ now: () => Date.now() - TWO_HOURS_MS });
  before(async () => {
    receiver = await FaultReceiver.open();
    ({ test, owner } = await startAdminApp({
      work: true,
      audio,
      settings: { webhooks: { allowHttp: true, allowNetworks: ["127.0.0.0/8"], scheduleSeconds: [0.01] } },
    }));
  });
  beforeEach(() => {
    test.provider.behaviour = submitCompletes;
  });
  after(async () => {
    await test.close();
    await receiver.close();
  });

  const lastAction = async (): Promise<Record<string, unknown> | undefined> =>
    dataOf<{ records: readonly Record<string, unknown>[] }>(await owner.get("/audit?limit=1")).records[0];

  it("rotates and retires the secret key, which is shown by its id alone", async () => {
    const before = dataOf<AdminSecrets>(await owner.get("/secrets"));
    const [first] = before.keys;
    expect(before).to.deep.include({ rotated_at: null, origin: "file" });
    expect(before.keys.map(({ role }) => role)).to.deep.equal(["current"]);
    const rotated = await owner.send("POST", "/secrets/rotate", undefined, "a leaver knew it");
    expect(dataOf(rotated)).to.include({ previous: first?.id });
    expect(await lastAction()).to.deep.include({ action: "secrets.rotate" });
    expect((await lastAction())?.["fields"]).to.include({ why: "a leaver knew it" });
    expect(errorOf(await owner.send("POST", "/secrets/rotate")).message).to.include("retire");
    const between = dataOf<AdminSecrets>(await owner.get("/secrets"));
    expect(between.keys.map(({ role }) => role)).to.deep.equal(["current", "previous"]);
    expect(dataOf(await owner.send("POST", "/secrets/retire", {}))).to.deep.include({ retired: [first?.id], lost: [] });
    expect(dataOf<AdminSecrets>(await owner.get("/secrets")).keys).to.have.length(1);
  });

  it("verifies the ledger in small steps, and names what is wrong", async () => {
    const { account } = await test.account({ credits: 25 });
    const sound = dataOf<AdminLedgerCheck>(await owner.send("POST", "/ledger/verify"));
    expect(sound).to.deep.include({ complete: true, violations: [] });
    expect(sound.checked).to.be.at.least(2);
    const set = (pack: number): Promise<void> =>
      alongside(test, (_, database) =>
        database.write("fermata_balances").where("account_id", account.id).update({ pack }),
      );
    await set(3);
    const { violations } = dataOf<AdminLedgerCheck>(await owner.send("POST", "/ledger/verify"));
    await set(0);
    expect(violations.map(({ invariant, subject }) => [invariant, subject])).to.deep.include([
      "balance-equals-sum-of-entries",
      account.id,
    ]);
  });

  it("verifies the audit log, also against a head that was kept", async () => {
    const verify = async (body: object): Promise<{ records: number; head: string; broken: object | null }> =>
      dataOf(await owner.send("POST", "/audit/verify", body));
    await test.app.accounts.create({ name: "Rain Radio", tier: "free" });
    const { records, head, broken } = await verify({});
    expect(records).to.be.above(0);
    expect([head.length, broken]).to.deep.equal([64, null]);
    expect((await verify({ head })).broken).to.equal(null);
    expect((await verify({ head: "f".repeat(64) })).broken).to.have.keys("number", "problem");
    expect(refusalOf(await owner.send("POST", "/audit/verify", { head: "x" }))).to.equal("400 invalid_request");
  });

  it("makes a link that opens the studio as an account, which is recorded", async () => {
    const { account } = await test.account();
    const { url, expires_at: until } = dataOf<{ url: string; expires_at: string }>(
      await owner.send("POST", `/accounts/${account.id}/studio-link`, undefined, "a demonstration"),
    );
    const code = new URLSearchParams(new URL(url).hash.slice(1)).get("code");
    const session = await fetch(`${test.url}/api/v1/session`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin" },
      body: JSON.stringify({ code }),
    });
    expect(session.ok).to.equal(true);
    expect(Date.parse(until)).to.be.above(Date.now());
    expect(await lastAction()).to.deep.include({ action: "studio.link", account: account.id });
    expect((await lastAction())?.["fields"]).to.include({ why: "a demonstration" });
    expect(refusalOf(await owner.send("POST", "/accounts/acct_x/studio-link"))).to.equal("404 not_found");
  });

  it("counts and deletes audio files that were left behind, and no others", async () => {
    const { api } = await test.account();
    const { id } = dataOf<{ id: string }>(await api.generate(undefined, { Prefer: "wait=20" }));
    const kept = audio.keys;
    expect(kept).not.to.deep.equal([]);
    const left = `${id.replace("gen_", "job_")}/9/0-mix.mp3`;
    await audio.put(left, Buffer.alloc(10), 10);
    const counted = dataOf<AdminCollection>(await owner.send("POST", "/audio/collect", { dry_run: true }));
    expect(counted).to.deep.include({ found: { files: 1, bytes: 10 }, deleted: { files: 0, bytes: 0 } });
    expect(audio.keys).to.include(left);
    const collected = dataOf<AdminCollection>(await owner.send("POST", "/audio/collect", {}));
    expect(collected).to.deep.include({ dry_run: false, deleted: { files: 1, bytes: 10 } });
    expect(audio.keys).to.deep.equal(kept);
    expect(await lastAction()).to.deep.include({ action: "audio.collect" });
  });

  it("sends again what an endpoint did not get since a moment, the oldest first", async () => {
    const { api } = await test.account();
    const url = receiver.url("/status/503", { host: "127.0.0.1", server: "http" });
    const headers = { "Content-Type": "application/json" };
    const { id } = dataOf<{ id: string }>(
      await api.send("POST", "/api/v1/webhook-endpoints", { headers, body: { url } }),
    );
    const since = new Date().toISOString();
    for (let job = 0; job < 2; job++) await api.generate(undefined, { Prefer: "wait=20" });
    const deliveries = async (): Promise<readonly { id: string; state: string }[]> =>
      dataOf<{ deliveries: [] }>(await owner.get(`/webhook-endpoints/${id}/deliveries`)).deliveries;
    await eventually("both are given up", async () => {
      const states = (await deliveries()).map(({ state }) => state);
      return states.length === 2 && states.every((state) => state === "exhausted");
    });
    const resend = async (body: object): Promise<AdminResend> =>
      dataOf<AdminResend>(await owner.send("POST", `/webhook-endpoints/${id}/resend`, body));
    const [newest, oldest] = await deliveries();
    expect(await resend({ since })).to.deep.equal({ sent: 2, delivered: 0, last: newest?.id, more: false });
    await api.send("PATCH", `/api/v1/webhook-endpoints/${id}`, {
      headers,
      body: { url: receiver.url("/ok", { host: "127.0.0.1", server: "http" }) },
    });
    expect(await resend({ since, after: oldest?.id })).to.deep.include({ sent: 1, delivered: 1, last: newest?.id });
    expect((await deliveries()).map(({ state }) => state)).to.deep.equal(["delivered", "exhausted"]);
    expect(await resend({ since: new Date(Date.now() + 60_000).toISOString() })).to.include({ sent: 0, last: null });
    expect(refusalOf(await owner.send("POST", `/webhook-endpoints/${id}/resend`, { since: "yesterday" }))).to.equal(
      "400 invalid_request",
    );
  });

  it("revokes every key of every account", async () => {
    const callers = [await test.account(), await test.account()];
    const { revoked } = dataOf<{ revoked: number }>(await owner.send("POST", "/keys/revoke-all"));
    expect(revoked).to.be.at.least(2);
    for (const { api } of callers)
      await eventually("revoked", async () => (await api.get("/api/v1/me")).status === 401);
    expect(await lastAction()).to.deep.include({ action: "keys.revoke_all", account: null });
  });

  it("is for owners where it cannot be taken back, and for operators where it costs time", async () => {
    const tokenOf = async (role: string): Promise<string> =>
      dataOf<{ token: string }>(await owner.send("POST", "/tokens", { name: `${role} test`, role })).token;
    const statuses = async (role: string): Promise<number[]> => {
      const client = new AdminClient(test.adminUrl ?? "", await tokenOf(role));
      const responses = [
        await client.get("/secrets"),
        await client.send("POST", "/ledger/verify"),
        await client.send("POST", "/audit/verify", {}),
        await client.send("POST", "/accounts/acct_x/studio-link"),
        await client.send("POST", "/audio/collect", { dry_run: true }),
        await client.send("POST", "/webhook-endpoints/whe_x/resend", { since: "2026-11-20T00:00:00Z" }),
        await client.send("POST", "/secrets/rotate"),
        await client.send("POST", "/secrets/retire", {}),
        await client.send("POST", "/keys/revoke-all"),
      ];
      return responses.map(({ status }) => status);
    };
    expect(await statuses("read")).to.deep.equal([200, 200, 200, 403, 403, 403, 403, 403, 403]);
    expect(await statuses("operate")).to.deep.equal([200, 200, 200, 404, 200, 404, 403, 403, 403]);
  });
});
