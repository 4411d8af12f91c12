import { expect } from "chai";
import type { Browser } from "playwright-core";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { expectAccessible } from "../../support/accessibility.js";
import { keepLooks, openBrowser } from "../../support/browser.js";
import { type ConsoleFixture, openConsoleFixture } from "../../support/console-fixture.js";
import { ConsolePage } from "../../support/console-page.js";
import { submitCompletes } from "../../support/doubles/scripted-provider.js";
import { eventually } from "../../support/process.js";

interface Credits {
  readonly available: number;
  readonly pack: number;
}

describe("What operators do at the console", function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: Browser;
  let open: ConsolePage;

  before(async () => {
    [fixture, browser] = await Promise.all([openConsoleFixture(), openBrowser()]);
    open = await ConsolePage.open(browser, fixture.url, fixture.ownerToken);
  });
  after(async () => {
    await open.close();
    await browser.close();
    await fixture.close();
  });

  const read = async <T = Record<string, unknown>>(path: string): Promise<T> =>
    dataOf<T>(await fixture.owner.get(path));
  const account = (): string => fixture.radio.account.id;
  const credits = (): Promise<Credits> => read<Credits>(`/accounts/${account()}/credits`);
  /** What the audit log has last. */
  const audited = async (): Promise<{ action: string; actor: string; fields: Record<string, unknown> } | undefined> =>
    (await read<{ records: readonly never[] }>("/audit?limit=1")).records[0];

  it("create an account, change its tier, accept its terms, suspend and resume it", async () => {
    await open.goto("#/accounts");
    await open.openDialog("New account…");
    await expectAccessible(open.page, "the dialog");
    await keepLooks(open.page, "console-new-account");
    expect(await open.submit("Create")).to.include("needed");
    const fields = { Name: "Tin Roof", Tier: "free", "Credits granted at once": "30", Reason: "order 17 – ünïcode" };
    expect(await open.submit("Create", fields)).to.equal("Tin Roof is created.");
    await open.page.getByRole("heading", { name: "Tin Roof" }).waitFor();
    expect(await audited()).to.deep.include({ action: "accounts.create", actor: "admin.token (admin API)" });
    expect((await audited())?.fields).to.include({ why: "order 17 – ünïcode", credits: 30 });
    const path = `/accounts/${open.page.url().split("/").at(-1)}`;
    await open.openDialog("Change tier…");
    expect(await open.submit("Change", { Tier: "nix" })).to.include("nix");
    expect(await open.submit("Change", { Tier: "pro" })).to.equal("Tin Roof has the tier pro.");
    await open.openDialog("Accept terms…");
    await open.submit("Note it");
    await open.openDialog("Suspend…");
    await open.submit("Suspend", { Note: "abuse" });
    await open.page.locator(".title").getByText("Suspended").waitFor();
    expect(await read(path)).to.include({ tier: "pro", suspended_reason: "abuse" });
    await open.openDialog("Resume…");
    await open.submit("Resume");
    await open.page.locator(".title").getByText("Active").waitFor();
    expect(await read(path))
      .to.include({ suspended_at: null })
      .and.not.include({ terms_accepted_at: null });
  });

  it("export an account, and delete it by typing its name", async () => {
    const { id } = await fixture.test.app.accounts.create({ name: "Old Harbour", tier: "free", credits: 7 });
    await open.goto(`#/accounts/${id}`);
    const [download] = await Promise.all([
      open.page.waitForEvent("download"),
      open.page.getByRole("link", { name: "Export" }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal(`${id}.jsonl`);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).to.include("Old Harbour").and.include('"type":"end"');
    const dialog = await open.openDialog("Delete…");
    expect(await dialog.textContent())
      .to.include("7 credits are lost")
      .and.include("cannot be taken back");
    expect(await open.submit("Delete for good", { "Type “Old Harbour” to confirm": "Old" })).to.include("Old Harbour");
    expect(await read(`/accounts/${id}`)).to.include({ deleted_at: null });
    await open.submit("Delete for good", { "Type “Old Harbour” to confirm": "Old Harbour", Reason: "their request" });
    await open.page.locator(".title .badge").getByText("Deleted").waitFor();
    expect(await read(`/accounts/${id}`)).not.to.include({ deleted_at: null });
    expect(await open.button("Suspend…").count()).to.equal(0);
    expect((await audited())?.fields).to.include({ why: "their request" });
  });

  it("issue a key, which is shown once and works, and revoke it", async () => {
    await open.goto(`#/accounts/${account()}/keys`);
    const dialog = await open.openDialog("Issue a key…");
    await dialog.getByLabel("library:read").uncheck();
    expect(await open.submit("Issue", { Label: "booth", "Works for": "7" })).to.include("shown this once");
    const key = (await dialog.locator(".secret code").textContent()) ?? "";
    await expectAccessible(open.page, "the key");
    await open.done();
    const caller = new ApiClient(fixture.test.url, key);
    expect((await caller.get("/api/v1/me")).status).to.equal(200);
    expect((await caller.get("/api/v1/playlists")).status).to.equal(403);
    expect(await open.page.content()).not.to.include(key);
    const row = open.page.getByRole("row").filter({ hasText: "booth" });
    expect(await row.textContent()).to.include("in 7 d");
    await row.getByRole("button", { name: "Revoke…" }).click();
    await open.submit("Revoke", { Reason: "lost laptop" });
    await row.getByText("Revoked").waitFor();
    await eventually("revoked", async () => (await caller.get("/api/v1/me")).status === 401);
  });

  it("grant credits with the keyboard alone, and come back to where they were", async () => {
    await open.goto(`#/accounts/${account()}/ledger`);
    const { keyboard } = open.page;
    const focused = (): Promise<string> =>
      open.page.evaluate<string>(
        "document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent",
      );
    const tabTo = async (text: string): Promise<void> => {
      while ((await focused()) !== text) await keyboard.press("Tab");
    };
    const before = await credits();
    await tabTo("Grant credits…");
    await keyboard.press("Enter");
    expect(await focused()).to.equal("Credits");
    await keyboard.press("Escape");
    expect(await focused()).to.equal("Grant credits…");
    await keyboard.press("Enter");
    await keyboard.type("25");
    await tabTo("Bucket");
    await keyboard.press("p");
    await tabTo("Reference");
    await keyboard.type("order 9");
    await keyboard.press("Enter");
    await open.page
      .getByRole("status")
      .filter({ hasText: `${before.available + 25} credits`.replace(/(\d)(\d{3}) /, "$1,$2 ") })
      .waitFor();
    expect(await focused()).to.equal("Grant credits…");
    expect(await credits()).to.include({ available: before.available + 25, pack: before.pack + 25 });
    await open.page.getByRole("row").filter({ hasText: "order 9" }).waitFor();
    await open.openDialog("Grant credits…");
    expect(await open.submit("Grant", { Credits: "-3" })).to.include("whole number of credits");
    await open.submit("Grant", { Credits: "25", Bucket: "pack", Reference: "order 9" });
    expect((await credits()).pack).to.equal(before.pack + 25);
    await open.openDialog("Renew…");
    expect(await open.submit("Renew", { "Month that begins": "2026-11" })).to.include("2026-11 has begun");
    expect((await credits()).pack).to.equal(before.pack + 25);
  });

  it("end a job at once, and retry one that failed", async () => {
    const { jobs } = fixture;
    await open.goto(`#/jobs/${jobs.rendering}`);
    const dialog = await open.openDialog("Cancel…");
    expect(await dialog.textContent()).to.include("10 credits");
    await open.button("Back").click();
    await open.openDialog("End now…");
    const before = await credits();
    await open.submit("End and refund", { Reason: "the provider is stuck" });
    await open.page.locator(".title").getByText("Failed").waitFor();
    expect((await credits()).available).to.equal(before.available + 10);
    expect((await audited())?.fields).to.include({ force: true, why: "the provider is stuck" });
    fixture.test.provider.behaviour = submitCompletes;
    await open.goto(`#/jobs/${jobs.failed}`);
    await open.openDialog("Retry…");
    await open.submit("Retry");
    await open.page.waitForURL((url) => !url.hash.includes(jobs.failed));
    await open.page.locator(".title").getByText("Completed").waitFor();
  });

  it("pause and resume submissions", async () => {
    await open.goto("#/jobs");
    await open.openDialog("Pause submissions…");
    await open.submit("Pause", { Reason: "a restored backup" });
    await open.page.getByText("Submissions are paused: nothing new is bought.").waitFor();
    expect(await read("/submissions")).to.include({ state: "paused" });
    await open.openDialog("Resume submissions…");
    await open.submit("Resume");
    expect(await read("/submissions")).to.include({ state: "active" });
  });

  it("ping an endpoint, resend a delivery, and rotate its secret", async () => {
    const { endpoints, receiver } = fixture;
    await open.goto(`#/webhooks/${endpoints.good}`);
    const before = receiver.requests.length;
    await open.openDialog("Ping…");
    expect(await open.submit("Send")).to.match(/^Delivered: status 200 after \d+ ms\.$/);
    await open.done();
    await open.openDialog("Resend…", 1);
    expect(await open.submit("Send")).to.include("Delivered");
    await open.done();
    expect(receiver.requests.filter(({ path }) => path === "/ok").length).to.be.at.least(2);
    expect(receiver.requests.length).to.be.at.least(before + 2);
    await open.page.getByText("by an operator").first().waitFor();
    const dialog = await open.openDialog("Rotate the secret…");
    await open.submit("Rotate", { "The old secret signs as well for": "0" });
    expect(await dialog.locator(".secret code").textContent()).to.match(/^whsec_/);
    await open.done();
    await open.goto(`#/webhooks/${endpoints.failing}`);
    await open.openDialog("Ping…");
    expect(await open.submit("Send")).to.include("The receiver returned 503.");
    await open.done();
  });

  it("issue and revoke a token of an operator, who with the role read can change nothing", async () => {
    await open.goto("#/tokens");
    const dialog = await open.openDialog("Issue a token…");
    await open.submit("Issue", { Operator: "night shift", Role: "read" });
    const token = (await dialog.locator(".secret code").textContent()) ?? "";
    await open.done();
    const reader = await ConsolePage.open(browser, fixture.url, token, { hash: "#/tokens" });
    try {
      await reader.page.getByText("For owners").waitFor();
      const allowed = ["Sign out", "More", "Check again"];
      for (const hash of [
        "#/",
        "#/jobs",
        `#/jobs/${fixture.jobs.failed}`,
        "#/accounts",
        `#/accounts/${account()}/keys`,
      ]) {
        await reader.goto(hash);
        const names = await reader.page
          .getByRole("button")
          .evaluateAll((buttons) =>
            (buttons as unknown as { getAttribute(name: string): string | null; textContent: string }[]).map(
              (button) => button.getAttribute("aria-label") ?? button.textContent,
            ),
          );
        expect(names.filter((name) => !allowed.includes(name) && !name.startsWith("Copy"))).to.deep.equal([]);
      }
      expect(await reader.page.getByText("may look, and change nothing").first().isVisible()).to.equal(true);
    } finally {
      await reader.close();
    }
    await open.openDialog("Revoke…");
    await open.submit("Revoke");
    await open.page.getByRole("row").filter({ hasText: "night shift" }).getByText("Revoked").waitFor();
  });

  it("are the only ones who do it: a page of another origin has no part in the session", async () => {
    const { page } = open;
    await page
      .context()
      .route("http://elsewhere.test/**", (route) =>
        route.fulfill({ contentType: "text/html", body: "<title>elsewhere</title>" }),
      );
    const other = await page.context().newPage();
    try {
      const target = `${fixture.test.url}/admin/v1`;
      await other.goto("http://elsewhere.test/");
      const calls = [
        ["submissions", "PUT", '{"state":"paused"}'],
        ["session", "DELETE", null],
        ["accounts", "GET", null],
      ] as const;
      const outcome = await other.evaluate(
        ({ admin, all }) =>
          Promise.all(
            all.map(([path, method, body]) =>
              fetch(`${admin}/${path}`, {
                credentials: "include",
                headers: { "Content-Type": "application/json" },
                method,
                body,
              }).then(
                ({ status }) => String(status),
                () => "refused",
              ),
            ),
          ),
        { admin: target, all: calls },
      );
      expect(outcome).to.deep.equal(["refused", "refused", "refused"]);
      // A form needs no permission to send, and shows what comes of it.
      await other.setContent(`<form method="post" action="${target}/jobs/${fixture.jobs.failed}/retry"></form>`);
      const [response] = await Promise.all([
        other.waitForResponse(/retry/),
        other.evaluate("document.forms[0].submit()"),
      ]);
      expect(response.status()).to.equal(401);
    } finally {
      await other.close();
    }
    expect(await read("/submissions")).to.include({ state: "active" });
    await open.goto("#/doctor");
    await page.getByRole("heading", { name: "Doctor" }).waitFor();
  });
});
