import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { ApiClient, dataOf, errorOf, refusalOf } from "../../support/api-client.js";
import { submitAccepts, submitCompletes, submitFails } from "../../support/doubles/scripted-provider.js";
import { eventually } from "../../support/process.js";
import type { TestApp } from "../../support/test-app.js";
import { type AdminClient, startAdminApp } from "./admin-client.js";

interface ListedJob {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly code: string } | null;
}

describe("An operator at the admin API", () => {
  let test: TestApp;
  let owner: AdminClient;
  let receiver: Server;
  let received: number;
  before(async () => {
    receiver = createServer((request, response) =>
      request.resume().on("end", () => {
        received += 1;
        response.writeHead(204).end();
      }),
    );
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    ({ test, owner } = await startAdminApp({
      work: true,
      settings: { webhooks: { allowHttp: true, allowNetworks: ["127.0.0.0/8"] } },
    }));
  });
  beforeEach(() => {
    received = 0;
    test.provider.behaviour = submitCompletes;
  });
  after(async () => {
    await test.close();
    receiver.close();
  });

  const listed = async (query: string): Promise<readonly ListedJob[]> =>
    dataOf<{ jobs: readonly ListedJob[] }>(await owner.get(`/jobs?${query}`)).jobs;

  it("creates an account that can call the API, changes its tier, suspends and resumes it", async () => {
    const created = await owner.send("POST", "/accounts", {
      name: "Rain Radio",
      tier: "free",
      accept_terms: true,
      email_verified: true,
      credits: 30,
      external_id: "user 4711",
    });
    expect(created.status).to.equal(201);
    const { id } = dataOf<{ id: string }>(created);
    const issued = await owner.send("POST", `/accounts/${id}/keys`, { name: "ci", scopes: ["profile:read"] });
    const { key, ...shown } = dataOf<{ key: string; id: string }>(issued);
    expect(shown).to.deep.include({ name: "ci", scopes: ["profile:read"], state: "active", expires_at: null });
    const caller = new ApiClient(test.url, key);
    expect(dataOf(await caller.get("/api/v1/me"))).to.include({ id, account_tier: "free", email_verified: true });
    expect(dataOf(await owner.send("PATCH", `/accounts/${id}`, { tier: "pro" }))).to.include({ tier: "pro" });
    await owner.send("POST", `/accounts/${id}/suspend`, { reason: "abuse" });
    await eventually("suspended", async () => (await caller.get("/api/v1/me")).status === 403);
    expect(dataOf(await owner.get(`/accounts/${id}`))).to.deep.include({
      suspended_reason: "abuse",
      credits: { available: 30, monthly: 30, pack: 0, reserved: 0, spent: 0, running_jobs: 0 },
    });
    expect(dataOf(await owner.send("POST", `/accounts/${id}/resume`))).to.include({ suspended_at: null });
    expect(dataOf(await owner.delete(`/keys/${shown.id}`))).to.deep.equal({ id: shown.id, revoked: true });
    await eventually("revoked", async () => (await caller.get("/api/v1/me")).status === 401);
    const { keys } = dataOf<{ keys: readonly { state: string }[] }>(await owner.get(`/accounts/${id}/keys`));
    expect(keys.map(({ state }) => state)).to.deep.equal(["revoked"]);
    await owner.send("POST", `/accounts/${id}/keys`, { expires_at: "2090-01-01T00:00:00Z" });
    expect(dataOf(await owner.delete(`/accounts/${id}/keys`))).to.deep.equal({ revoked: 1 });
  });

  it("finds accounts by text and tier, page by page", async () => {
    const create = async (name: string, tier: string): Promise<string> =>
      dataOf<{ id: string }>(await owner.send("POST", "/accounts", { name, tier })).id;
    const [one, two] = [await create("Quark Alpha", "free"), await create("Quark Beta", "pro")];
    const found = async (query: string): Promise<string[]> =>
      dataOf<{ accounts: readonly { id: string }[] }>(await owner.get(`/accounts?${query}`)).accounts.map(
        ({ id }) => id,
      );
    expect(await found("search=quark")).to.deep.equal([two, one]);
    expect(await found("search=quark&tier=free")).to.deep.equal([one]);
    expect(await found("search=quark&limit=1")).to.deep.equal([two]);
    expect(await found(`search=quark&limit=1&after=${two}`)).to.deep.equal([one]);
    expect(await found(`search=${one}`)).to.deep.equal([one]);
    expect(refusalOf(await owner.get("/accounts?after=x"))).to.equal("400 invalid_request");
  });

  it("grants and renews credits once, and reads the ledger page by page", async () => {
    const { account } = await test.account({ credits: 10 });
    const path = `/accounts/${account.id}`;
    const grant = { amount: 25, bucket: "pack", reference: "order 9" };
    for (let time = 0; time < 2; time++)
      expect(dataOf(await owner.send("POST", `${path}/credits/grants`, grant))).to.include({ available: 35, pack: 25 });
    const month = { period: "2026-11" };
    const renewed = dataOf(await owner.send("POST", `${path}/credits/renewals`, month));
    expect(renewed).to.include({ period: "2026-11", repeated: false, pack: 25 });
    expect(dataOf(await owner.send("POST", `${path}/credits/renewals`, month))).to.include({ repeated: true });
    const page = async (query: string): Promise<readonly { number: number; kind: string }[]> =>
      dataOf<{ entries: readonly { number: number; kind: string }[] }>(await owner.get(`${path}/ledger?${query}`))
        .entries;
    const all = await page("limit=100");
    expect(all.map(({ kind }) => kind)).to.deep.equal(["renew", "expire", "grant", "grant"]);
    const [first, second] = [await page("limit=3"), await page(`limit=3&before=${all[2]?.number}`)];
    expect([...first, ...second]).to.deep.equal(all);
    expect(refusalOf(await owner.send("POST", `${path}/credits/grants`, { amount: -1 }))).to.equal(
      "400 invalid_request",
    );
  });

  it("lists, shows, cancels and retries jobs", async () => {
    const { account, api } = await test.account({ credits: 100 });
    test.provider.behaviour = submitFails("failed");
    await api.generate(undefined, { Prefer: "wait=20" });
    const [failed] = await listed(`account=${account.id}&status=failed&provider=scripted`);
    expect(failed?.error).to.include({ code: "generation_failed" });
    test.provider.behaviour = submitCompletes;
    const retried = await owner.send("POST", `/jobs/${failed?.id}/retry`);
    expect(retried.status).to.equal(202);
    const { job } = dataOf<{ job: ListedJob }>(retried);
    await eventually(
      "completed",
      async () => (await listed(`account=${account.id}&limit=1`))[0]?.status === "completed",
    );
    expect(dataOf(await owner.send("POST", `/jobs/${failed?.id}/retry`))).to.deep.include({ repeated: true });
    const report = dataOf<{
      readonly timeline: { readonly events: readonly { readonly id: string }[] };
      readonly shown: object;
      readonly request: object;
    }>(await owner.get(`/jobs/${job.id}`));
    expect(report.timeline.events.map(({ id }) => id)).to.include.members(["accepted", "charged", "completed"]);
    expect(report.shown).to.include({ job_id: job.id, status: "completed" });
    expect(report.request).to.include({ prompt: "rain on a tin roof" });
    test.provider.behaviour = submitAccepts(60_000);
    const { id } = dataOf<{ id: string }>(await api.generate());
    await eventually("rendering", async () => (await listed(`account=${account.id}&status=processing`)).length === 1);
    expect(dataOf(await owner.send("POST", `/jobs/${id}/cancel`, {}))).to.deep.include({ outcome: "running" });
    const forced = dataOf<{ outcome: string; job: ListedJob }>(
      await owner.send("POST", `/jobs/${id}/cancel`, { force: true }),
    );
    expect([forced.outcome, forced.job.status]).to.deep.equal(["cancelled", "failed"]);
    const ids = (await listed(`account=${account.id}`)).map((one) => one.id);
    expect(ids).to.deep.equal([id, job.id, failed?.id]);
    expect((await listed(`account=${account.id}&after=${id}&limit=1`)).map((one) => one.id)).to.deep.equal([job.id]);
    expect(errorOf(await owner.send("POST", `/jobs/${job.id}/retry`)).message).to.equal(
      `The job ${job.id} is completed; a failed one is retried.`,
    );
  });

  it("pauses and resumes the buying of new work", async () => {
    expect(dataOf(await owner.get("/submissions"))).to.include({ state: "active" });
    expect(dataOf(await owner.send("PUT", "/submissions", { state: "paused" }))).to.include({ state: "paused" });
    const { api, account } = await test.account();
    await api.generate();
    expect(dataOf(await owner.send("PUT", "/submissions", { state: "active" }))).to.include({ state: "active" });
    await eventually("completed", async () => (await listed(`account=${account.id}&status=completed`)).length === 1);
  });

  it("sees providers, models, the margin, and what doctor finds", async () => {
    const { providers } = dataOf<{ providers: readonly { id: string }[] }>(await owner.get("/providers"));
    expect(providers.find(({ id }) => id === "scripted")).to.deep.include({
      enabled: true,
      models: ["scripted/song", "scripted/beat"],
      breaker: { state: "closed", failures: 0, opened_at: null, tries_at: null },
      unavailable: [],
    });
    await test.app.submissions.find();
    const { models } = dataOf<{ models: readonly { id: string }[] }>(await owner.get("/models"));
    expect(models.map(({ id }) => id)).to.include("scripted/song");
    const { api } = await test.account();
    await api.generate(undefined, { Prefer: "wait=20" });
    const margin = dataOf<{ providers: readonly object[] }>(await owner.get("/margin"));
    expect(margin.providers[0]).to.include({ provider: "scripted" });
    expect(refusalOf(await owner.get("/margin?from=2026-12-01"))).to.equal("400 invalid_request");
    const doctor = dataOf<{ ok: boolean; checks: readonly { name: string; result: string }[] }>(
      await owner.get("/doctor"),
    );
    expect(doctor.checks.find(({ name }) => name === "node")).to.include({ result: "ok" });
  });

  it("sees webhook endpoints with every delivery, sends them again, pings, and rotates secrets", async () => {
    const { account, api } = await test.account();
    const { port } = receiver.address() as AddressInfo;
    const headers = { "Content-Type": "application/json" };
    const body = { url: `http://127.0.0.1:${port}/hook` };
    const { signing_secret: first } = dataOf(await api.send("POST", "/api/v1/webhook-endpoints", { headers, body }));
    await api.generate(undefined, { Prefer: "wait=20" });
    await eventually("delivered", () => received === 1);
    const { webhook_endpoints: endpoints } = dataOf<{ webhook_endpoints: readonly { id: string }[] }>(
      await owner.get(`/accounts/${account.id}/webhook-endpoints`),
    );
    const endpoint = endpoints[0]?.id ?? "";
    const deliveries = async (): Promise<readonly { id: string; state: string; attempts: readonly object[] }[]> =>
      dataOf<{ deliveries: [] }>(await owner.get(`/webhook-endpoints/${endpoint}/deliveries`)).deliveries;
    await eventually("recorded", async () => (await deliveries())[0]?.state === "delivered");
    const [delivery] = await deliveries();
    expect(delivery?.attempts[0]).to.include({ number: 1, status: 204, failure: null, manual: false });
    expect(dataOf(await owner.send("POST", `/webhook-deliveries/${delivery?.id}/resend`))).to.include({
      number: 2,
      manual: true,
    });
    expect(dataOf(await owner.send("POST", `/webhook-endpoints/${endpoint}/ping`))).to.include({ status: 204 });
    expect(received).to.equal(3);
    const rotated = dataOf(
      await owner.send("POST", `/webhook-endpoints/${endpoint}/rotate-secret`, { overlap_hours: 0 }),
    );
    expect(rotated["signing_secret"])
      .to.match(/^whsec_/)
      .and.not.equal(first);
    expect(dataOf(await owner.get(`/webhook-endpoints/${endpoint}`))).to.include({ id: endpoint, status: "active" });
    expect(refusalOf(await owner.send("POST", "/webhook-deliveries/dlv_x/resend"))).to.equal("404 not_found");
  });

  it("lists the endpoints of all accounts and the deliveries of one, page by page", async () => {
    const headers = { "Content-Type": "application/json" };
    const { port } = receiver.address() as AddressInfo;
    const register = async (): Promise<readonly [id: string, account: string]> => {
      const { account, api } = await test.account();
      const body = { url: `http://127.0.0.1:${port}/page` };
      return [
        dataOf<{ id: string }>(await api.send("POST", "/api/v1/webhook-endpoints", { headers, body })).id,
        account.id,
      ];
    };
    const [[one, first], [two, second]] = [await register(), await register()];
    const list = async (query: string): Promise<readonly { id: string; account: string }[]> =>
      dataOf<{ webhook_endpoints: [] }>(await owner.get(`/webhook-endpoints?${query}`)).webhook_endpoints;
    const all = await list("limit=1000");
    expect(all.map(({ id, account }) => [id, account])).to.deep.include.members([
      [one, first],
      [two, second],
    ]);
    expect(all.find(({ id }) => id === one)).to.include({ disabled_by: null, failing_since: null, status: "active" });
    expect((await list(`limit=1&after=${one}`)).map(({ id }) => id)).to.deep.equal([two]);
    expect(refusalOf(await owner.get("/webhook-endpoints?after=x"))).to.equal("404 not_found");
    for (let time = 0; time < 3; time++) await owner.send("POST", `/webhook-endpoints/${one}/ping`);
    const deliveries = async (query: string): Promise<string[]> =>
      dataOf<{ deliveries: readonly { id: string }[] }>(
        await owner.get(`/webhook-endpoints/${one}/deliveries?${query}`),
      ).deliveries.map(({ id }) => id);
    const sent = await deliveries("state=delivered");
    expect(sent.length).to.equal(3);
    expect(await deliveries(`limit=1&after=${sent[0]}`)).to.deep.equal([sent[1]]);
    expect(await deliveries("state=pending")).to.deep.equal([]);
    expect(refusalOf(await owner.get(`/webhook-endpoints/${two}/deliveries?after=${sent[0]}`))).to.equal(
      "400 invalid_request",
    );
  });
});
