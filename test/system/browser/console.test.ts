import { createServer, request as httpRequest } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { AdminClient } from "../../api/admin/admin-client.js";
import { dataOf } from "../../support/api-client.js";
import { expectAccessible } from "../../support/accessibility.js";
import { keepLooks, openBrowser } from "../../support/browser.js";
import { type ConsoleFixture, openConsoleFixture } from "../../support/console-fixture.js";
import { ConsolePage } from "../../support/console-page.js";
import { eventually } from "../../support/process.js";
import { startTestApp } from "../../support/test-app.js";

const SCRIPT_BYTES_MAX = 60_000;

describe("The console, in a browser", function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: Browser;
  let open: ConsolePage | null = null;

  before(async () => {
    [fixture, browser] = await Promise.all([openConsoleFixture(), openBrowser()]);
  });
  afterEach(async () => {
    await open?.close();
    open = null;
  });
  after(async () => {
    await browser.close();
    await fixture.close();
  });

  const signedIn = async (options = {}): Promise<ConsolePage> =>
    (open = await ConsolePage.open(browser, fixture.url, fixture.ownerToken, options));

  it("asks for a token, says when it is wrong, and then shows the view that the address names", async () => {
    open = await ConsolePage.open(browser, fixture.url, null, { hash: `#/jobs/${fixture.jobs.failed}` });
    const { page } = open;
    await page.getByLabel("Admin token").fill("not-a-token");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "The admin token is not valid." }).waitFor();
    expect(await page.getByLabel("Admin token").getAttribute("aria-invalid")).to.equal("true");
    await open.signIn(fixture.ownerToken);
    await page.getByText("scripted: content_rejected, with words for operators only").waitFor();
    expect(page.url()).to.equal(`${fixture.url}#/jobs/${fixture.jobs.failed}`);
    const [cookie, ...others] = await open.visit.context.cookies();
    expect(cookie).to.include({ httpOnly: true, sameSite: "Strict", path: "/admin/v1" });
    expect(others).to.deep.equal([]);
    expect(await page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")).to.deep.equal([
      0,
      0,
      "",
    ]);
    await open.button("Sign out").first().click();
    await page.getByRole("heading", { name: "Console" }).waitFor();
    expect(await open.visit.context.cookies()).to.deep.equal([]);
    await page.reload();
    await page.getByLabel("Admin token").waitFor();
  });

  it("asks for a token again when the session has ended, and comes back to where one was", async () => {
    const token = await fixture.tokenOf("operate");
    open = await ConsolePage.open(browser, fixture.url, token, { hash: "#/accounts" });
    const { page } = open;
    await page.getByRole("link", { name: "Quiet Café" }).waitFor();
    const { tokens } = dataOf<{ tokens: readonly { id: string; prefix: string }[] }>(
      await fixture.owner.get("/tokens"),
    );
    await fixture.owner.delete(`/tokens/${tokens.find(({ prefix }) => token.startsWith(prefix))?.id}`);
    const revoked = new AdminClient(fixture.test.adminUrl ?? "", token);
    await eventually("revoked", async () => (await revoked.get("/me")).status === 401);
    await page.getByLabel("Find").fill("harbour");
    await page.keyboard.press("Enter");
    await page.getByLabel("Admin token").waitFor();
    expect(page.url()).to.equal(`${fixture.url}#/accounts?search=harbour`);
    await open.signIn(fixture.ownerToken);
    await page.getByRole("link", { name: "Harbour Games" }).waitFor();
    expect(await page.getByRole("link", { name: "Quiet Café" }).count()).to.equal(0);
  });

  const views = (): Readonly<Record<string, readonly [hash: string, heading: string]>> => {
    const { id } = fixture.radio.account;
    const { jobs, endpoints, music } = fixture;
    return {
      overview: ["#/", "Overview"],
      "overview-day": ["#/?range=day", "Overview"],
      jobs: ["#/jobs", "Jobs"],
      "jobs-none": ["#/jobs?status=queued", "Jobs"],
      "job-retried": [`#/jobs/${jobs.retried}`, "Music"],
      "job-failed": [`#/jobs/${jobs.failed}`, "Music"],
      "job-rendering": [`#/jobs/${jobs.rendering}`, "Music"],
      accounts: ["#/accounts", "Accounts"],
      "account-keys": [`#/accounts/${id}`, "Nightingale Radio"],
      "account-ledger": [`#/accounts/${id}/ledger`, "Nightingale Radio"],
      "account-webhooks": [`#/accounts/${id}/webhooks`, "Nightingale Radio"],
      "account-limits": [`#/accounts/${id}/limits`, "Nightingale Radio"],
      "account-music": [`#/accounts/${id}/music`, "Nightingale Radio"],
      "account-suspended": [`#/accounts/${fixture.suspended.id}`, "Harbour Games"],
      "account-deleted": [`#/accounts/${fixture.deleted.id}`, "deleted"],
      music: ["#/music", "Music"],
      track: [`#/music/${music.track}`, "Rain on a tin roof"],
      playlist: [`#/music/${music.playlist}`, "Rain at night"],
      webhooks: ["#/webhooks", "Webhooks"],
      endpoint: [`#/webhooks/${endpoints.failing}`, "http://"],
      providers: ["#/providers", "Providers"],
      models: ["#/models", "Models"],
      margin: ["#/margin", "Margin"],
      doctor: ["#/doctor", "Doctor"],
      maintenance: ["#/maintenance", "Maintenance"],
      settings: ["#/settings?origin=chosen", "Settings"],
      audit: ["#/audit", "Audit log"],
      tokens: ["#/tokens", "Tokens"],
      nowhere: ["#/nowhere", "Not found"],
    };
  };

  const WIDTHS = { wide: { width: 1_280, height: 860 }, phone: { width: 390, height: 844 } };
  for (const [name, viewport] of Object.entries(WIDTHS)) {
    it(`shows every view in light and dark, accessible, from this server alone: ${name}`, async () => {
      open = await ConsolePage.open(browser, fixture.url, null, { viewport });
      const { page, requests, complaints } = open.visit;
      await page.getByLabel("Admin token").waitFor();
      await checkLooks(page, `sign-in-${name}`);
      await open.signIn(fixture.ownerToken);
      // The browser itself reports the response by which the page learns that there is no session.
      complaints.length = 0;
      for (const [view, [hash, heading]] of Object.entries(views())) {
        await open.goto(hash);
        const { title, current } = await page.evaluate<{ title: string; current: number }>(
          `({ title: document.title, current: document.querySelectorAll("nav [aria-current=page]").length })`,
        );
        expect(await page.getByRole("heading", { level: 1 }).textContent()).to.include(heading);
        expect(title).to.match(new RegExp(`${heading}.*Fermata console$`));
        if (view !== "nowhere") expect(current, view).to.be.at.least(1);
        await checkLooks(page, `${view}-${name}`);
      }
      expect(complaints).to.deep.equal([]);
      expect(requests.filter((one) => new URL(one.url()).origin !== fixture.test.url)).to.deep.equal([]);
    });
  }

  /** What a scheme changes is its colours: the other rules are checked in one of them. */
  async function checkLooks(page: Page, name: string): Promise<void> {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page, `${name}-${colorScheme}`, colorScheme === "light" ? undefined : ["color-contrast"]);
      await keepLooks(page, `console-${name}-${colorScheme}`, { fullPage: true });
      const [red = 0] =
        /\d+/.exec(await page.evaluate<string>("getComputedStyle(document.body).backgroundColor")) ?? [];
      expect(Number(red) > 127).to.equal(colorScheme === "light");
    }
  }

  it("says in words what its charts show, and draws them again when the scheme changes", async () => {
    const { page } = await signedIn();
    const jobs = page.getByRole("img", {
      name: /^Jobs: Accepted [1-9]\d*, Completed [1-9]\d*, Failed \d+ in the last hour/,
    });
    await jobs.waitFor();
    await page.getByRole("img", { name: /^Queue age: .*; \d+ s at most in the last hour$/ }).waitFor();
    const drawn = (): Promise<string> =>
      jobs.locator("canvas").evaluate((canvas) => (canvas as unknown as { toDataURL(): string }).toDataURL());
    const before = await drawn();
    await page.emulateMedia({ colorScheme: "dark" });
    while ((await drawn()) === before) await page.evaluate("new Promise(requestAnimationFrame)");
  });

  it("follows a job until it has ended, without being asked", async () => {
    const page = (await signedIn({ hash: `#/jobs/${fixture.jobs.rendering}` })).page;
    await page.getByRole("progressbar", { name: "Progress" }).waitFor();
    await fixture.owner.send("POST", `/jobs/${fixture.jobs.rendering}/cancel`, { force: true });
    await page.locator(".title").getByText("Failed").waitFor();
    await page.getByText("10 credits refunded").waitFor();
    expect(await page.getByRole("progressbar").count()).to.equal(0);
  });

  it("moves the focus to the heading of a new view, and offers a way past the navigation", async () => {
    const { page } = await signedIn();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const focusOn = (text: string): Promise<void> =>
      page.locator(":focus", { hasText: new RegExp(`^${text}$`, "u") }).waitFor();
    await page.getByRole("link", { name: "Jobs", exact: true }).first().click();
    await focusOn("Jobs");
    await page.goBack();
    await focusOn("Overview");
    await page.reload();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("Tab");
    await focusOn("Skip to the content");
    await page.keyboard.press("Enter");
    await focusOn("Overview");
  });

  it("says what went wrong with the id of the request, keeps what it had, and tries again", async () => {
    const opened = await signedIn();
    const { page } = opened;
    const error = { code: "service_unavailable", message: "The storage is away.", request_id: "req_of_this_test" };
    await page.route("**/admin/v1/providers", (route) =>
      route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify({ error }) }),
    );
    await page.goto(`${fixture.url}#/providers`);
    await page.getByRole("alert").filter({ hasText: "The storage is away. (req_of_this_test)" }).waitFor();
    await page.unroute("**/admin/v1/providers");
    await opened.button("Try again").click();
    await page.getByRole("heading", { name: "Scripted Provider" }).waitFor();
    await page.route("**/admin/v1/providers", (route) => route.abort());
    await page.getByRole("alert").filter({ hasText: "The server cannot be reached." }).waitFor();
    expect(await page.getByRole("heading", { name: "Scripted Provider" }).isVisible()).to.equal(true);
  });

  it("says when a section could not be loaded, as after an update of the server, and offers to reload", async () => {
    const opened = await signedIn();
    const { page } = opened;
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.route("**/pages/console-*.js", (route) => route.fulfill({ status: 404, body: "" }));
    await page.getByRole("link", { name: "Jobs", exact: true }).first().click();
    await page.getByRole("alert").filter({ hasText: "This part of the console could not be loaded." }).waitFor();
    await page.unroute("**/pages/console-*.js");
    await opened.button("Reload").click();
    await page.getByRole("heading", { name: "Jobs" }).waitFor();
  });

  it("works behind a proxy that adds a prefix, at the port of its own of the admin API", async () => {
    const own = await startTestApp({ settings: { admin: { token: fixture.ownerToken, port: 0 } } });
    const proxy = createServer((incoming, outgoing) => {
      const { host, port } = new URL(own.adminUrl ?? "");
      const path = (incoming.url ?? "").replace("/tools/music", "");
      const { method, headers } = incoming;
      incoming.pipe(
        httpRequest({ port, path, method, headers: { ...headers, "x-forwarded-host": host } }, (response) => {
          outgoing.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(outgoing);
        }),
      );
    });
    try {
      await once(proxy.listen(0, "127.0.0.1"), "listening");
      const at = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/tools/music`;
      open = await ConsolePage.open(browser, `${at}/console`, fixture.ownerToken);
      await open.page.getByRole("heading", { name: "Overview" }).waitFor();
      await open.page.reload();
      await open.page.getByRole("heading", { name: "Overview" }).waitFor();
      expect((await open.visit.context.cookies())[0]).to.include({ path: "/tools/music/admin/v1" });
    } finally {
      await open?.close();
      open = null;
      proxy.closeAllConnections();
      proxy.close();
      await own.close();
    }
  });

  it("loads at most 60 kB of compressed JavaScript", async () => {
    const { visit } = await signedIn();
    const scripts = visit.requests.filter((one) => one.resourceType() === "script");
    const bodies = await Promise.all(scripts.map(async (one) => (await one.response())?.body() ?? Buffer.alloc(0)));
    const bytes = bodies.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0);
    expect(bytes).to.be.within(10_000, SCRIPT_BYTES_MAX);
  });
});
