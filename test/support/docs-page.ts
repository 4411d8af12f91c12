import { expect } from "chai";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { visit, type Visit } from "./browser.js";

/** The page of the API's documentation, opened in a browser. */
export class DocsPage {
  readonly page: Page;

  private constructor(
    readonly visit: Visit,
    private readonly url: string,
  ) {
    this.page = visit.page;
  }

  /** @param url of the server @param hash of the view */
  static async open(
    browser: Browser,
    url: string,
    hash: string,
    options: BrowserContextOptions = {},
  ): Promise<DocsPage> {
    const docs = new DocsPage(await visit(browser, { viewport: { width: 1_280, height: 900 }, ...options }), url);
    await docs.page.goto(`${url}/docs${hash}`);
    await docs.page.getByRole("heading", { level: 1 }).waitFor();
    return docs;
  }

  close(): Promise<void> {
    return this.visit.close();
  }

  /** The contents at the side. */
  get side(): Locator {
    return this.page.locator("nav.side");
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", { name });
  }

  link(name: string): Locator {
    return this.page.getByRole("link", { name, exact: true });
  }

  /** Resolves when the view of this title is shown. */
  heading(title: string): Promise<void> {
    return this.page.getByRole("heading", { level: 1, name: title }).waitFor();
  }

  async goTo(hash: string, title: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await this.heading(title);
  }

  giveKey(key: string): Promise<void> {
    return this.page.getByLabel("API key").fill(key);
  }

  /** A generation that is rendered fast. */
  giveBody(prompt: string): Promise<void> {
    const body = { model_id: "synth/instrumental", prompt, duration: 10 };
    return this.page.getByLabel("Body", { exact: true }).fill(JSON.stringify(body));
  }

  /** Resolves when a response of this status has come, or of these words. */
  status(text: string | RegExp): Promise<void> {
    return this.page.locator(".outcome [role=status]").filter({ hasText: text }).waitFor();
  }

  alert(text: string): Promise<void> {
    return this.page.getByRole("alert").filter({ hasText: text }).waitFor();
  }

  get responseBody(): Locator {
    return this.page.getByLabel("Body of the response");
  }

  /** Neither complaints of the browser, nor a request to anywhere else. */
  expectQuiet(): void {
    expect(this.visit.complaints).to.deep.equal([]);
    const elsewhere = this.visit.requests.map((one) => one.url()).filter((url) => !url.startsWith(`${this.url}/`));
    expect(elsewhere).to.deep.equal([]);
  }
}
