import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { visit, type Visit } from "./browser.js";

/** The console in a browser, as an operator uses it. */
export class ConsolePage {
  private constructor(
    readonly visit: Visit,
    private readonly url: string,
  ) {}

  /** @param token none: the page that asks for one @param hash the view, `#/jobs` */
  static async open(
    browser: Browser,
    url: string,
    token: string | null,
    { hash = "#/", ...options }: BrowserContextOptions & { readonly hash?: string } = {},
  ): Promise<ConsolePage> {
    const opened = new ConsolePage(await visit(browser, { viewport: { width: 1_280, height: 860 }, ...options }), url);
    await opened.page.goto(url + hash);
    if (token !== null) await opened.signIn(token);
    return opened;
  }

  get page(): Page {
    return this.visit.page;
  }

  async signIn(token: string): Promise<void> {
    await this.page.getByLabel("Admin token").fill(token);
    await this.page.keyboard.press("Enter");
    await this.page.locator(".shell").waitFor();
  }

  /** Goes to a view, and waits for what it reads. */
  async goto(hash: string): Promise<void> {
    await this.page.goto(this.url + hash);
    await this.page.locator(".view").waitFor();
    await this.page.locator(".loading").first().waitFor({ state: "detached" });
  }

  button(name: string): Locator {
    return this.page.getByRole("button", { name, exact: true });
  }

  /** Opens the dialog of an action. */
  async openDialog(button: string, nth = 0): Promise<Locator> {
    await this.button(button).nth(nth).click();
    return this.page.getByRole("dialog");
  }

  /** Fills the fields of the open dialog by their labels, and submits it. @returns what was said of it */
  async submit(button: string, fields: Readonly<Record<string, string>> = {}): Promise<string> {
    const dialog = this.page.getByRole("dialog");
    for (const [label, value] of Object.entries(fields)) {
      const field = dialog.getByLabel(label, { exact: true });
      const isChoice = await field.evaluate(
        (element) => (element as unknown as { tagName: string }).tagName === "SELECT",
      );
      await (isChoice ? field.selectOption(value) : field.fill(value));
    }
    await dialog.getByRole("button", { name: button, exact: true }).click();
    const within = ["note.good", "note.bad", "issue:not(:empty)"].map((one) => `dialog .${one}`);
    const said = this.page.locator(["body:not(:has(dialog)) .toast", ...within].join()).first();
    return (await said.textContent()) ?? "";
  }

  /** Closes what an action has shown. */
  async done(): Promise<void> {
    await this.button("Done").click();
  }

  close(): Promise<void> {
    return this.visit.close();
  }
}
