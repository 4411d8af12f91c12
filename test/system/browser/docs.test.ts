import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import express from "express";
import type { Browser } from "playwright-core";
import { expectAccessible } from "../../support/accessibility.js";
import { keepLooks, openBrowser } from "../../support/browser.js";
import { DocsPage } from "../../support/docs-page.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";

const SCRIPT_BYTES_MAX = 60_000;

describe("GET /docs, in a browser", function () {
  this.timeout(120_000);
  let browser: Browser;
  let test: TestApp;
  let key: string;
  let docs: DocsPage | null = null;
  before(async () => {
    test = await startTestApp({ work: true, settings: { plugins: { synth: { enabled: true } } } });
    ({ key } = await test.account());
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await test.close();
  });
  afterEach(async () => {
    await docs?.close();
    docs = null;
  });

  const enter = async (hash: string, options = {}, at = test.url): Promise<DocsPage> =>
    (docs = await DocsPage.open(browser, at, hash, options));

  it("has the operations by tag, generations first, and finds them by words", async () => {
    const open = await enter("");
    await open.side.getByRole("group", { name: "Account" }).waitFor();
    const groups = open.side.getByRole("group");
    const names = await Promise.all([0, 1, 2].map((at) => groups.nth(at).getAttribute("aria-label")));
    expect(names).to.deep.equal(["Guides", "Generations", "Models"]);
    const [first] = await groups.nth(1).getByRole("link").allTextContents();
    expect(first).to.equal("POSTCreate generation");
    await open.side.getByRole("searchbox").fill("playlist_not_found");
    await open.side.getByText("4 found").waitFor();
    expect(await open.side.locator(".group a").allTextContents()).to.deep.equal([
      "Errors",
      "GETOne playlist with tracks",
      "PATCHChange a playlist",
      "DELDelete a playlist",
    ]);
    await open.side.getByRole("searchbox").fill("nothing like this");
    await open.side.getByText("Nothing has all of these words.").waitFor();
    open.expectQuiet();
  });

  it("shows what an operation needs, takes and returns, at an address of its own", async () => {
    const open = await enter("#/operations/createGeneration");
    await open.heading("Create generation");
    const text = await open.page.locator(".described").innerText();
    for (const word of ["generations:create", "costs credits, once", "Idempotency-Key", "1 to 3000 characters"])
      expect(text).to.include(word);
    for (const word of ["idempotency_conflict", "insufficient_credits", "rate_limited"]) expect(text).to.include(word);
    await open.page.getByText("insufficient_credits", { exact: true }).first().click();
    await open.link("What insufficient_credits means and what to do").click();
    await open.heading("Errors");
    expect(new URL(open.page.url()).hash).to.equal("#/guides/errors/insufficient_credits");
    await open.page.locator("tr:focus").filter({ hasText: "The credits do not reach" }).waitFor();
    await open.page.goBack();
    await open.heading("Create generation");
    await open.link("generations").click();
    await open.page.locator("h2:focus").filter({ hasText: "Requests" }).waitFor();
    open.expectQuiet();
  });

  it("has guides that lead to each other and to operations, with code to copy", async () => {
    const open = await enter("#/guides/quickstart", { permissions: ["clipboard-read", "clipboard-write"] });
    await open.button("Copy").first().click();
    await open.button("Copied").waitFor();
    const code = await open.page.evaluate<string>("navigator.clipboard.readText()");
    expect(code).to.equal("export FERMATA_API_KEY=frm_…\n");
    expect(await open.page.locator(".guide pre").nth(1).textContent()).to.include(`${test.url}/api/v1/generations`);
    await open.page.locator(".guide").getByRole("link", { name: "Idempotency" }).click();
    await open.heading("Idempotency");
    await open.page.locator(".guide").getByRole("link", { name: "POST /api/v1/generations" }).first().click();
    await open.heading("Create generation");
    open.expectQuiet();
  });

  it("shows what the server posts to webhooks: its headers, its members, and an example", async () => {
    const open = await enter("#/nowhere");
    await open.side.getByRole("group", { name: "Events" }).getByRole("link", { name: "Stem split failed" }).click();
    await open.heading("Stem split failed");
    expect(new URL(open.page.url()).hash).to.equal("#/events/stem_split.failed");
    expect(await open.page.getByLabel("Example").textContent()).to.include('"type": "stem_split.failed"');
    const shown = await open.page.locator(".described").textContent();
    for (const name of ["webhook-signature", "timestamp", "metadata"]) expect(shown).to.include(name);
    expect(await open.button(/^Send/).count()).to.equal(0);
  });

  it("is used with the keyboard alone", async () => {
    const open = await enter("");
    const { keyboard } = open.page;
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await open.page.locator("h1:focus").waitFor();
    await open.side.getByRole("link", { name: "Credit balance" }).focus();
    await keyboard.press("Enter");
    await open.page.locator("h1:focus").filter({ hasText: "Credit balance" }).waitFor();
    await open.page.getByLabel("API key").focus();
    await keyboard.type(key);
    await keyboard.press("Enter");
    await open.status("200");
  });

  it("works below a prefix of another app", async () => {
    const app = express();
    app.use("/music", test.app.router);
    const server = createServer(app).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    try {
      const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/music`;
      const open = await enter("#/operations/getCredits", {}, at);
      await open.giveKey(key);
      await open.button("Send GET").click();
      await open.status("200");
      open.expectQuiet();
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  const VIEWS: Readonly<Record<string, readonly [hash: string, heading: string]>> = {
    home: ["#/", "Fermata API"],
    create: ["#/operations/createGeneration", "Create generation"],
    upload: ["#/operations/uploadTrack", "Upload a track"],
    search: ["#/operations/searchLibrary", "Search tracks and playlists"],
    quickstart: ["#/guides/quickstart", "Quickstart"],
    errors: ["#/guides/errors", "Errors"],
    webhooks: ["#/guides/webhooks", "Webhooks"],
    nowhere: ["#/nowhere", "Not found"],
  };
  const WIDTHS = { wide: { width: 1_280, height: 900 }, phone: { width: 390, height: 844 } };
  for (const [width, viewport] of Object.entries(WIDTHS)) {
    it(`is accessible in light and dark, and nothing sticks out: ${width}`, async () => {
      const open = await enter("", { viewport });
      const { page } = open;
      for (const [view, [hash, title]] of Object.entries(VIEWS)) {
        await open.goTo(hash, title);
        if (hash.startsWith("#/guides")) await page.locator(".guide p").first().waitFor();
        if (view === "create") await showOutcome(open);
        await checkLooks(open, `${view}-${width}`);
      }
      if (width === "phone") {
        await page.getByText("Contents", { exact: true }).click();
        await checkLooks(open, "contents-phone");
        await page.getByRole("link", { name: "Limits" }).click();
        await open.heading("Limits");
        await page.getByRole("searchbox").waitFor({ state: "hidden" });
      }
      open.expectQuiet();
    });
  }

  async function showOutcome(open: DocsPage): Promise<void> {
    await open.giveKey(key);
    await open.giveBody("slow strings");
    await open.button("Send POST").click();
    await expectAccessible(open.page, "confirmation");
    await open.button("Send it").click();
    await open.status("202");
    await open.page.getByText("Headers of the response").click();
  }

  /** What a scheme changes is its colours: the other rules are checked in one of them. */
  async function checkLooks({ page }: DocsPage, name: string): Promise<void> {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page, `${name}-${colorScheme}`, colorScheme === "light" ? undefined : ["color-contrast"]);
      await keepLooks(page, `docs-${name}-${colorScheme}`, { fullPage: true });
    }
  }

  it("sends at most 60 kB of compressed script", async () => {
    const file = new URL("../../../adapters/http/generated/web/docs.js", import.meta.url);
    expect(gzipSync(await readFile(file), { level: 9 }).length).to.be.below(SCRIPT_BYTES_MAX);
  });
});
