import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
} from "playwright-core";
import { installPackage } from "./services.js";

const CHROMIUM = "/usr/bin/chromium";

/** A headless Chromium. Without one, root on Debian gets it installed; elsewhere `FERMATA_TEST_CHROMIUM` names it. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findChromium(),
    // Root has no sandbox; audio needs no device and no click.
    args: ["--no-sandbox", "--mute-audio", "--autoplay-policy=no-user-gesture-required"],
  });
}

async function findChromium(): Promise<string> {
  const given = process.env["FERMATA_TEST_CHROMIUM"];
  if (given !== undefined) return given;
  if (existsSync(CHROMIUM)) return CHROMIUM;
  if (process.getuid?.() !== 0) {
    throw new Error(
      `There is no ${CHROMIUM}. Install Debian's package chromium, or name a Chromium in FERMATA_TEST_CHROMIUM.`,
    );
  }
  await installPackage("chromium");
  return CHROMIUM;
}

/** A page with its requests and errors. */
export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly requests: Request[];
  /** Console output and uncaught errors; empty for a correct page. */
  readonly complaints: string[];
  close(): Promise<void>;
}

export async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const requests: Request[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, context, requests, complaints, close: () => context.close() };
}

/** Keeps how a page looks, for people: `NAME.png` in the folder that `FERMATA_TEST_SCREENSHOTS` names; else nothing. */
export async function keepLooks(page: Page, name: string, { fullPage = false } = {}): Promise<void> {
  const folder = process.env["FERMATA_TEST_SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
}
