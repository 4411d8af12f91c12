import { expect } from "chai";
import type { AdminAccountReport } from "../../../adapters/http/admin/controllers/accounts.js";
import type { AdminSetting } from "../../../adapters/http/admin/controllers/installation.js";
import type { AdminKey } from "../../../adapters/http/admin/presenters.js";
import { A_GENERATION, ApiClient, dataOf, refusalOf } from "../../support/api-client.js";
import { tinyMp3 } from "../../support/provider-kit/sounds.js";
import { submitAccepts, submitCompletes } from "../../support/doubles/scripted-provider.js";
import { eventually } from "../../support/process.js";
import type { TestApp } from "../../support/test-app.js";
import { AdminClient, OWNER_TOKEN, startAdminApp } from "./admin-client.js";

type Line = Readonly<Record<string, unknown>> & { readonly type: string };

describe("What is kept of an account at the admin API", () => {
  let test: TestApp;
  let owner: AdminClient;
  let url: string;
  before(async () => {
    ({ test, owner, url } = await startAdminApp({ work: true }));
  });
  beforeEach(() => {
    test.provider.behaviour = submitCompletes;
  });
  after(() => test.close());

  const operator = async (): Promise<AdminClient> =>
    new AdminClient(
      url,
      dataOf<{ token: string }>(await owner.send("POST", "/tokens", { name: "ops", role: "operate" })).token,
    );
  const reportOf = async (id: string): Promise<AdminAccountReport> =>
    dataOf<AdminAccountReport>(await owner.get(`/accounts/${id}`));

  it("is deleted with the account: keys, links and jobs at once, the rest within minutes", async () => {
    const account = await test.app.accounts.ensure({
      externalId: "user 99",
      tier: "pro",
      acceptTerms: true,
      credits: 100,
    });
    const { token } = await test.app.accounts.issueKey(account.id);
    const caller = new ApiClient(test.url, token);
    const { id: trackId } = await test.app.library.upload({ accountId: account.id, audio: tinyMp3(), title: "Hummed" });
    const track = await test.app.library.manage.share(trackId);
    const page = new URL(test.app.shareUrls.urlOf(track) ?? "").pathname;
    expect((await test.anonymous.get(page)).status).to.equal(200);
    await caller.generate(undefined, { Prefer: "wait=20" });
    test.provider.behaviour = submitAccepts(60_000);
    const { id: running } = dataOf<{ id: string }>(await caller.generate());
    await eventually("rendering", async () => (await test.app.jobs.show(running)).job.phase === "rendering");
    expect(refusalOf(await (await operator()).delete(`/accounts/${account.id}`))).to.equal("403 insufficient_scope");
    const deleted = dataOf(await owner.delete(`/accounts/${account.id}`, "Ticket 18"));
    expect(deleted).to.deep.include({ id: account.id, erased_at: null });
    await eventually("refused", async () => (await caller.get("/api/v1/me")).status === 401);
    await eventually("dead", async () => (await test.anonymous.get(page)).status === 404);
    await test.app.jobs.cancel(running, { force: true });
    await eventually("erased", async () => (await reportOf(account.id)).deletion?.erased_at !== null);
    expect(refusalOf(await caller.get("/api/v1/me"))).to.equal("401 invalid_api_key");
    const report = await reportOf(account.id);
    expect(report).to.deep.include({ name: "(deleted)", external_id: null, tier: "pro" });
    expect(report.deletion?.erased).to.deep.include({ keys: 1, jobs: 2, tracks: 1 });
    expect(report.credits).to.include({ reserved: 0, running_jobs: 0 });
    expect((await test.app.credits.verify()).violations).to.deep.equal([]);
    expect((await test.app.jobs.show(running)).job.request).to.include({ prompt: "" });
    const again = await test.app.accounts.ensure({ externalId: "user 99", tier: "pro" });
    expect(again.id).to.not.equal(account.id);
    const [record] = await test.app.audit.list({ action: "accounts.delete", limit: 1 });
    expect(record).to.deep.include({ actor: "admin.token (admin API)", accountId: account.id });
    expect(record?.fields).to.deep.equal({ keys: 1, why: "Ticket 18" });
    expect((await test.app.audit.verify()).broken).to.equal(null);
    const listed = dataOf<{ accounts: readonly { id: string }[] }>(await owner.get("/accounts?deleted=true")).accounts;
    expect(listed.map(({ id }) => id)).to.deep.equal([account.id]);
    expect(refusalOf(await owner.send("POST", `/accounts/${account.id}/keys`, {}))).to.equal("400 invalid_request");
  }).timeout(60_000);

  it("is exported as JSON Lines, whole, page by page, and without a secret", async () => {
    const { account, api, key } = await test.account();
    await api.generate({ ...A_GENERATION, metadata: { note: "mine" } }, { Prefer: "wait=20" });
    const { id: trackId } = await test.app.library.upload({ accountId: account.id, audio: tinyMp3(), title: "Hummed" });
    await test.app.library.manage.createPlaylist({
      ...{ title: "Evenings", accountId: account.id, visibility: "private", tracks: [trackId] },
    });
    // More than a page of the ledger.
    for (let grants = 0; grants < 220; grants += 1) await test.app.credits.grant(account.id, 1);
    await eventually("the log is written", async () => {
      const { logs } = dataOf<{ logs: readonly object[] }>(await api.get("/api/v1/logs"));
      return logs.length > 1;
    });
    const response = await fetch(`${url}/accounts/${account.id}/export`, {
      headers: { Authorization: `Bearer ${OWNER_TOKEN}` },
    });
    expect(response.headers.get("content-type")).to.equal("application/x-ndjson");
    expect(response.headers.get("content-disposition")).to.equal(`attachment; filename="${account.id}.jsonl"`);
    const text = await response.text();
    expect(text).to.not.include(key);
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    const of = (type: string): Line[] => lines.filter((line) => line.type === type);
    expect(of("export")[0]).to.include({ version: 1, account: account.id });
    expect(of("account")[0]).to.deep.include({ id: account.id, name: "Nightingale Radio", tier: "pro" });
    expect(of("key")[0])
      .to.include({ prefix: key.slice(0, 12) })
      .and.not.have.property("token_hash");
    // A grant at the creation, a reservation, a charge.
    expect(of("ledger_entry").map(({ number }) => number)).to.deep.equal(
      Array.from({ length: 223 }, (_, index) => 223 - index),
    );
    expect(of("job")[0]?.["input"]).to.deep.include({ prompt: "rain on a tin roof", metadata: { note: "mine" } });
    expect(of("track")).to.have.length(2);
    const files = of("track").find(({ id }) => id === trackId)?.["files"] as readonly { role: string; path: string }[];
    expect(files.find(({ role }) => role === "mix")?.path).to.equal(`audio/${trackId}/mix.mp3`);
    expect(of("playlist")[0]).to.deep.include({ title: "Evenings", tracks: [trackId] });
    const events = of("webhook_event");
    expect(events).to.have.length(1);
    expect(JSON.stringify(events[0])).to.include("generation.completed").and.include('"note":"mine"');
    expect(of("request").length).to.be.above(1);
    expect(of("request_count")[0]).to.have.all.keys("type", "starts_at", "endpoint", "status_code", "requests");
    expect(of("audit_record").map(({ action }) => action)).to.include("accounts.export");
    expect(lines.at(-1)).to.deep.equal({ type: "end", records: lines.length });
    expect(refusalOf(await owner.get("/accounts/acct_x/export"))).to.equal("404 not_found");
    expect(refusalOf(await (await operator()).get(`/accounts/${account.id}/export`))).to.equal(
      "403 insufficient_scope",
    );
  });

  it("says when a key was last used", async () => {
    const { account, api } = await test.account();
    const { key: unused } = await test.app.accounts.issueKey(account.id, { name: "unused" });
    const before = test.app.clock.now();
    await api.get("/api/v1/me");
    const keys = async (): Promise<readonly AdminKey[]> =>
      dataOf<{ keys: readonly AdminKey[] }>(await owner.get(`/accounts/${account.id}/keys`)).keys;
    await eventually("written", async () => (await keys()).some((key) => key.last_used_at !== null));
    const used = (await keys()).find((key) => key.last_used_at !== null);
    expect(Date.parse(used?.last_used_at ?? "")).to.be.within(before, test.app.clock.now());
    expect((await keys()).find(({ id }) => id === unused.id)?.last_used_at).to.equal(null);
  });

  it("has the settings in force, with where they come from, and no secret", async () => {
    const response = await owner.get("/settings");
    const { settings } = dataOf<{ settings: readonly AdminSetting[] }>(response);
    const of = (path: string): AdminSetting | undefined => settings.find((setting) => setting.path === path);
    expect(response.text).to.not.include(OWNER_TOKEN);
    expect(of("admin.token")).to.deep.equal({
      ...{ path: "admin.token", value: "[redacted]", origin: "app", source: "overrides" },
    });
    expect(of("http.bodyLimitBytes")).to.include({ origin: "default", source: null });
    expect(of("plugins.scripted.apiKey") ?? null).to.equal(null);
  });
});
