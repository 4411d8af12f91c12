import { expect } from "chai";
import type { Browser } from "playwright-core";
import { openBrowser, visit } from "../../support/browser.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";

describe("GET /docs, in a browser", function () {
  this.timeout(120_000);
  let browser: Browser;
  let test: TestApp;
  before(async () => {
    test = await startTestApp();
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await test.close();
  });

  it("calls an endpoint with a key, and shows the response", async () => {
    const { key, account } = await test.account();
    const { page, requests, complaints, close } = await visit(browser, { viewport: { width: 1_200, height: 1_000 } });
    await page.goto(`${test.url}/docs`);
    await page.getByRole("button", { name: "Authorize" }).first().click();
    const dialog = page.locator(".dialog-ux");
    await dialog.locator("input").fill(key);
    await dialog.getByRole("button", { name: "Apply credentials" }).click();
    await dialog.getByRole("button", { name: "Close" }).first().click();

    const operation = page.locator(".opblock-get").filter({ has: page.locator('[data-path="/api/v1/me"]') });
    await operation.locator(".opblock-summary-control").click();
    await operation.getByRole("button", { name: "Try it out" }).click();
    const response = page.waitForResponse(`${test.url}/api/v1/me`);
    await operation.getByRole("button", { name: "Execute" }).click();
    expect((await response).status()).to.equal(200);
    const shown = operation.locator(".live-responses-table");
    await shown.waitFor();
    expect(await shown.textContent())
      .to.include("200")
      .and.to.include(account.id);

    const elsewhere = requests
      .map((request) => new URL(request.url()))
      .filter(({ protocol, origin }) => protocol !== "data:" && origin !== test.url);
    expect(elsewhere).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
    await close();
  });
});
