import { expect } from "chai";
import type { AdminOverview, AdminRateLimit } from "../../../adapters/http/admin/controllers/overview.js";
import { dataOf, refusalOf } from "../../support/api-client.js";
import { submitCompletes, submitFails } from "../../support/doubles/scripted-provider.js";
import { eventually } from "../../support/process.js";
import type { TestApp } from "../../support/test-app.js";
import { type AdminClient, startAdminApp } from "./admin-client.js";

describe("What operators see of the whole at the admin API", () => {
  let test: TestApp;
  let owner: AdminClient;
  before(async () => {
    const rateLimits = { read: { perMinute: 10, perDay: 500 }, generation: { perMinute: 3, perDay: 50 } };
    ({ test, owner } = await startAdminApp({ work: true, settings: { rateLimits } }));
  });
  after(() => test.close());

  it("shows what an account may still ask", async () => {
    const { account, api } = await test.account();
    for (let time = 0; time < 4; time++) await api.get("/api/v1/me");
    const { tier, rate_limits: limits } = dataOf<{ tier: string; rate_limits: readonly AdminRateLimit[] }>(
      await owner.get(`/accounts/${account.id}/rate-limits`),
    );
    expect(tier).to.equal("pro");
    expect(
      limits.map(({ kind, windows }) => [kind, ...windows.map(({ limit, remaining }) => [limit, remaining])]),
    ).to.deep.equal([
      ["read", [10, 6], [500, 496]],
      ["generation", [3, 3], [50, 50]],
      ["write", [1_000_000, 1_000_000], [1_000_000, 1_000_000]],
    ]);
    expect(limits[0]?.windows.map(({ window_seconds: seconds }) => seconds)).to.deep.equal([60, 86_400]);
    expect(refusalOf(await owner.get("/accounts/acct_x/rate-limits"))).to.equal("404 not_found");
  });

  it("shows what is under way, and what happened in the last hour and the last day", async () => {
    const { api } = await test.account({ credits: 1_000 });
    test.provider.behaviour = submitFails("failed");
    await api.generate(undefined, { Prefer: "wait=20" });
    test.provider.behaviour = submitCompletes;
    await api.generate(undefined, { Prefer: "wait=20" });
    await api.get("/api/v1/generations/gen_unknown");
    await eventually("the log is written", async () => {
      const { logs } = dataOf<{ logs: readonly object[] }>(await api.get("/api/v1/logs?status=404"));
      return logs.length > 0;
    });
    // A slow storage is read by several calls.
    const seen = await eventually("all is read", async () => {
      const overview = dataOf<AdminOverview>(await owner.get("/overview"));
      const isRead = [overview.last_hour, overview.last_day].every(({ jobs }) => !jobs.accepted.includes(null));
      return isRead && sum(overview.last_hour.jobs.accepted) > 0 && overview;
    });
    expect(seen).to.deep.include({
      submissions: "active",
      jobs: { waiting: 0, submitting: 0, rendering: 0 },
      queue_age_seconds: 0,
      deliveries_pending: 0,
    });
    expect(seen.providers.map(({ id }) => id)).to.deep.equal(["scripted"]);
    expect([seen.last_hour.step_seconds, seen.last_hour.steps]).to.deep.equal([60, 60]);
    expect([seen.last_day.step_seconds, seen.last_day.steps]).to.deep.equal([3_600, 24]);
    for (const series of [seen.last_hour, seen.last_day]) {
      expect(series.requests.total).to.have.length(series.steps);
      expect([sum(series.jobs.accepted), sum(series.jobs.completed), sum(series.jobs.failed)]).to.deep.equal([2, 1, 1]);
      expect(sum(series.credits.granted)).to.equal(2_000);
      expect(sum(series.credits.charged)).to.equal(sum(series.credits.refunded)).and.to.be.above(0);
      const [provider] = series.providers;
      expect(provider?.id).to.equal("scripted");
      expect([sum(provider?.delivered), sum(provider?.failed)]).to.deep.equal([1, 1]);
      expect([series.queue_age_seconds.length, series.queue_age_seconds.at(-1)]).to.deep.equal([series.steps, 0]);
      expect([sum(series.requests.client_errors), sum(series.requests.server_errors)]).to.deep.equal([1, 0]);
    }
  });
});

function sum(figures: readonly (number | null)[] = []): number {
  return figures.reduce<number>((total, figure) => total + (figure ?? 0), 0);
}
