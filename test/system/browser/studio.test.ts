import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import axe from "axe-core";
import { expect } from "chai";
import express from "express";
import type { Browser, BrowserContextOptions, Locator } from "playwright-core";
import { keepLooks, openBrowser, visit, type Visit } from "../../support/browser.js";
import { dataOf } from "../../support/api-client.js";
import { repositoryPath } from "../../support/repository.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";

/** Not where the pages of these tests come from. */
const PUBLIC_URL = "http://music.test/behind";
const SCRIPT_BYTES_MAX = 60_000;
const PROMPT = "bright piano and drums, it's a waltz";

/** Lets a test hear what the page plays by Web Audio: `loudness()` of this moment. */
const TAP = `{
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (to, ...others) {
    if (to instanceof AudioDestinationNode) {
      window.tap ??= new AnalyserNode(this.context, { fftSize: 2048 });
      connect.call(this, window.tap);
    }
    return connect.call(this, to, ...others);
  };
  window.loudness = () => {
    const samples = new Float32Array(2048);
    window.tap.getFloatTimeDomainData(samples);
    return Math.max(...samples.map(Math.abs));
  };
}`;

describe("The studio, in a browser", function () {
  this.timeout(120_000);
  let browser: Browser;
  let test: TestApp;
  /** Has one track. */
  let owner: TestAccount;
  let title: string;
  let open: Visit;

  before(async () => {
    test = await startTestApp({
      work: true,
      settings: {
        http: { port: 0, publicUrl: PUBLIC_URL },
        plugins: { synth: { enabled: true, testHooks: true } },
      },
    });
    owner = await test.account();
    title = await makeTrack(owner);
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await test.close();
  });
  afterEach(() => open.close());

  async function makeTrack({ api }: TestAccount): Promise<string> {
    const body = { model_id: "synth/song", prompt: PROMPT, lyrics: "la la la", duration: 5 };
    const { id } = dataOf<{ id: string }>(await api.generate(body, { Prefer: "wait=60" }));
    const { tracks } = dataOf<{ tracks: { title: string }[] }>(await api.get(`/api/v1/generations/${id}`));
    return tracks[0]?.title ?? "";
  }

  /** The part of a link that the browser keeps to itself. */
  async function codeFor({ account }: TestAccount): Promise<string> {
    const link = await test.app.studioLink(account.id);
    expect(link?.url).to.match(new RegExp(`^${PUBLIC_URL}/#code=`));
    return new URL(link?.url ?? "").hash;
  }

  async function enter(account: TestAccount, options: BrowserContextOptions = {}, at = test.url): Promise<void> {
    open = await visit(browser, { viewport: { width: 1_280, height: 900 }, ...options });
    await open.context.addInitScript(TAP);
    await open.page.goto(`${at}/${await codeFor(account)}`);
    await prompt().waitFor();
  }

  const button = (name: string | RegExp): Locator => open.page.getByRole("button", { name });
  const prompt = (): Locator => open.page.getByLabel("What would you like to hear?");
  /** Of the shortest length. */
  const ask = async (words: string): Promise<void> => {
    await prompt().fill(words);
    await open.page.getByLabel("Length").press("Home");
  };
  const create = (): Promise<void> => button(/^(Create|Sending)/).click();
  const alert = (text: string | RegExp): Promise<void> =>
    open.page.getByRole("alert").filter({ hasText: text }).waitFor();
  const credits = (left: string): Promise<void> =>
    open.page
      .getByRole("status", { name: "Credits" })
      .filter({ hasText: `${left} credits` })
      .waitFor();
  /** Resolves when playback has come so far. */
  const played = (slider: Locator): Promise<void> =>
    slider.and(open.page.locator(":not([aria-valuenow='0'])")).waitFor();
  const generationsOf = async ({ api }: TestAccount): Promise<{ id: string; status: string }[]> =>
    dataOf<{ generations: { id: string; status: string }[] }>(await api.get("/api/v1/generations")).generations;
  const spentBy = async ({ api }: TestAccount): Promise<unknown> =>
    dataOf(await api.get("/api/v1/credits"))["available"];

  it("opens by a link, makes the first music and plays it, with the keyboard alone", async () => {
    const account = await test.account();
    await enter(account);
    expect(new URL(open.page.url()).hash, "the code has left the address").to.equal("");
    await credits("1,000");
    await prompt().fill(PROMPT);
    const { keyboard } = open.page;
    await open.page.getByLabel("Length").focus();
    await keyboard.press("Home");
    expect(await open.page.locator("output").textContent()).to.equal("0:05");
    await open.page.getByText("More options").focus();
    await keyboard.press("Enter");
    await open.page.getByLabel("BPM").fill("120");
    await prompt().focus();
    await keyboard.press("Control+Enter");
    await button(/^Play /).focus();
    await credits("990");
    await keyboard.press("Enter");
    const slider = open.page.getByRole("slider", { name: /^Position in/ });
    await played(slider);
    await button(/^Pause /).waitFor();
    await slider.press("End");
    expect(await slider.getAttribute("aria-valuetext")).to.equal("0:05 of 0:05");
    expect(
      await open.page
        .locator(".generation img")
        .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
    ).to.be.above(0);
    const [generation] = await generationsOf(account);
    expect(generation?.status).to.equal("completed");
    expect(dataOf(await account.api.get(`/api/v1/jobs/${generation?.id}`))["options"]).to.deep.equal({ bpm: 120 });
    await open.page.goBack().catch(() => null);
    expect(open.page.url(), "nor is it in the history").to.not.include("code=");
    expectQuiet();
  });

  it("shares a track and takes it back", async () => {
    await enter(owner);
    await button("Share").click();
    await button("Create a public page").click();
    const link = open.page.getByLabel("Link");
    await link.waitFor();
    const address = await link.inputValue();
    expect(address).to.match(new RegExp(`^${PUBLIC_URL}/share/`));
    const page = address.replace(PUBLIC_URL, test.url);
    expect(await (await fetch(page)).text()).to.include(title.replace("'", "&#39;"));
    await button("Stop sharing").click();
    await button("Create a public page").waitFor();
    expect((await fetch(page)).status).to.equal(404);
    await button(/^Play /).click();
    await played(open.page.getByRole("slider", { name: /^Position in/ }));
    expectQuiet();
  });

  it("splits a track, plays its stems together and mutes them", async () => {
    await enter(owner);
    await button("Stems").click();
    await button(/^Split into stems 8 credits/).click();
    const mixer = open.page.getByRole("group", { name: /^Stems of/ });
    const mutes = mixer.getByRole("button", { name: /^Mute / });
    await mutes.first().waitFor();
    const count = await mutes.count();
    expect(count).to.be.above(1);
    await mixer.getByRole("button", { name: "Play stems" }).click();
    const loud = (isLoud: boolean): Promise<unknown> =>
      open.page.waitForFunction((wanted) => {
        const { loudness } = globalThis as unknown as { readonly loudness: () => number };
        return loudness() > 0.001 === wanted;
      }, isLoud);
    await loud(true);
    for (let each = 0; each < count; each += 1) await mutes.nth(each).press("Space");
    await loud(false);
    await mixer
      .getByRole("button", { name: /^Solo / })
      .first()
      .click();
    await mixer.getByRole("slider", { name: "Position in stems" }).press("Home");
    expect(await mixer.locator(".strip:not(.silent)").count()).to.equal(1);
    await mixer
      .getByRole("slider", { name: /^Volume of/ })
      .first()
      .press("Home");
    await loud(false);
    await button(`Play ${title}`).click();
    await mixer.getByRole("button", { name: "Play stems" }).waitFor();
    // What was bought is there again, and is not bought twice.
    await open.page.reload();
    await button("Stems").click();
    await mixer.getByRole("button", { name: "Play stems" }).waitFor();
    expect(await mixer.getByRole("link", { name: /^Download / }).count()).to.equal(count);
    expectQuiet();
    // A bucket that lets pages play its files, and not read them.
    await open.page.route(/stem/, (route) =>
      route.request().resourceType() === "fetch" ? route.abort() : route.continue(),
    );
    await open.page.reload();
    await button("Stems").click();
    await open.page.getByText("The parts cannot be mixed in this browser. Each can be heard alone.").waitFor();
    expect(await mixer.locator("audio").count()).to.equal(count);
  });

  it("charges once although the response was lost", async () => {
    const account = await test.account();
    await enter(account);
    await ask(PROMPT);
    const keys: (string | undefined)[] = [];
    await open.page.route("**/api/v1/generations", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      keys.push(route.request().headers()["idempotency-key"]);
      if (keys.length > 3) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await create();
    await alert("you are not charged twice");
    await create();
    await button(/^Play /).waitFor();
    expect(keys).to.have.length(4);
    expect(new Set(keys).size).to.equal(1);
    expect(await generationsOf(account)).to.have.length(1);
    expect(await spentBy(account)).to.equal(990);
    // Asked for once more, it is another one.
    await create();
    await credits("980");
  });

  it("follows what is under way after a reload, and polls where there is no stream", async () => {
    const account = await test.account();
    await enter(account);
    await open.page.route("**/events", (route) => route.fulfill({ status: 503, body: "" }));
    await ask(`${PROMPT} [[delay:1]]`);
    await create();
    await open.page.getByRole("progressbar").waitFor();
    await open.page.reload();
    await open.page.getByRole("progressbar").waitFor();
    expect(await open.page.getByRole("heading", { level: 3 }).textContent()).to.equal(`${PROMPT} [[delay:1]]`);
    await button(/^Play /).waitFor();
    expect(await prompt().inputValue(), "the form is kept").to.include(PROMPT);
  });

  it("says why a job failed, and that it was refunded", async () => {
    const account = await test.account();
    await enter(account);
    await ask("[[fail:content_rejected]]");
    await create();
    await open.page
      .getByText("The provider refused these words. Say it in another way. Your credits were refunded.")
      .waitFor();
    await credits("1,000");
    await open.page.reload();
    await open.page.getByText("The provider refused these words.").waitFor();
    await prompt().fill("");
    await button("Use again").click();
    expect(await prompt().inputValue()).to.equal("[[fail:content_rejected]]");
  });

  it("says what is missing: words, credits", async () => {
    const account = await test.account({ credits: 4 });
    await enter(account);
    await create();
    await alert("Say what the music should be like.");
    expect(await prompt().getAttribute("aria-invalid")).to.equal("true");
    await ask(PROMPT);
    await create();
    await alert("This takes 10 credits, and you have 4.");
    expect(await generationsOf(account)).to.deep.equal([]);
  });

  it("signs in with a key and out again, and explains a wrong key and a link that has expired", async () => {
    open = await visit(browser);
    await open.page.goto(`${test.url}/#code=expired`);
    await alert("This link has expired");
    expect(open.page.url()).to.equal(`${test.url}/`);
    await open.page.getByLabel("API key").fill("frm_wrong");
    await button("Open the studio").click();
    await alert("The API key is not valid.");
    await open.page.getByLabel("API key").fill(owner.key);
    await button("Open the studio").click();
    await button(/^Play /).waitFor();
    await button("Sign out").click();
    await open.page.getByLabel("API key").waitFor();
    expect(JSON.parse(await open.page.evaluate("localStorage.getItem('fermata.studio')"))).to.deep.include({
      requests: {},
      splits: {},
    });
    await open.page.reload();
    await open.page.getByLabel("API key").waitFor();
    // A link that is pasted into the same tab.
    await open.page.goto(`${test.url}/${await codeFor(owner)}`);
    await button(/^Play /).waitFor();
  });

  it("shows the request as code that runs", async () => {
    const words = `it's "quoted" \\ $HOME \`date\``;
    const account = await test.account();
    await enter(account);
    await ask(words);
    await open.page.getByText("The same as code").click();
    const run = promisify(execFile);
    const commands = {
      curl: (code: string) => run("sh", ["-c", code], environment),
      JavaScript: (code: string) => run(process.execPath, ["--input-type=module", "-e", code], environment),
      Python: (code: string) => run("python3", ["-c", code], environment),
    };
    // Where the package is found by its own name.
    const environment = { cwd: repositoryPath(), env: { ...process.env, FERMATA_API_KEY: account.key } };
    for (const [language, command] of Object.entries(commands)) {
      await open.page.getByLabel(language, { exact: true }).check({ force: true });
      const code = await open.page.getByLabel(`The request in ${language}`).textContent();
      expect(code).to.include(PUBLIC_URL);
      // The second address comes with the response.
      const here = (code ?? "")
        .replaceAll(PUBLIC_URL, test.url)
        .replace(/(status_url)(?=[,)])/, `$1.replace("${PUBLIC_URL}", "${test.url}")`);
      const { stdout } = await command(here);
      expect((JSON.parse(stdout) as { data?: { status: string } }).data ?? JSON.parse(stdout), language).to.include({
        status: "completed",
      });
      await button("Copy").click();
    }
    expect(await spentBy(account)).to.equal(970);
    const [newest] = await generationsOf(account);
    expect((await test.app.generations.get(newest?.id ?? "")).request.prompt).to.equal(words);
  });

  it("works below a prefix of another app", async () => {
    const app = express();
    app.use("/music", test.app.router);
    const server = createServer(app).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/music`;
    try {
      await enter(owner, {}, at);
      await button(/^Play /).click();
      await played(open.page.getByRole("slider", { name: /^Position in/ }));
      expectQuiet(at);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
    light: { colorScheme: "light" },
    dark: { colorScheme: "dark" },
    "light-phone": { colorScheme: "light", viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
    "dark-phone": { colorScheme: "dark", viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
    "small-phone": { colorScheme: "light", viewport: { width: 320, height: 640 }, reducedMotion: "reduce" },
  };
  for (const [name, options] of Object.entries(LOOKS)) {
    it(`is accessible, and nothing sticks out: ${name}`, async () => {
      await enter(owner, options);
      const check = async (what: string): Promise<void> => {
        expect(await violationsIn(open), what).to.deep.equal([]);
        const [wanted, wide] = await open.page.evaluate<[number, number]>(
          "[document.documentElement.scrollWidth, innerWidth]",
        );
        expect(wanted, `${what}: nothing sticks out to the right`).to.be.at.most(wide);
        await keepLooks(open.page, `studio-${name}-${what}`, { fullPage: true });
      };
      await open.page.getByText("More options").click();
      await open.page.getByText("The same as code").click();
      await button("Stems").click();
      await button(/^Split into stems/).click();
      await button("Play stems").waitFor();
      await create();
      await alert("Say what the music should be like.");
      await check("open");
      await button("Share").click();
      await button("Sign out").click();
      await open.page.getByLabel("API key").waitFor();
      await check("sign-in");
      expectQuiet();
    });
  }

  it("sends at most 60 kB of compressed script", async () => {
    open = await visit(browser);
    const file = new URL("../../../adapters/http/generated/web/studio.js", import.meta.url);
    expect(gzipSync(await readFile(file), { level: 9 }).length).to.be.below(SCRIPT_BYTES_MAX);
  });

  /** Neither complaints of the browser, nor a request to anywhere else. */
  function expectQuiet(at = test.url): void {
    expect(open.complaints).to.deep.equal([]);
    const elsewhere = open.requests.map((request) => request.url()).filter((url) => !url.startsWith(`${at}/`));
    expect(elsewhere).to.deep.equal([]);
  }
});

/** axe's violations of a page, by the rules of WCAG 2.2 AA and good practice. */
async function violationsIn({ page }: Visit): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>("axe.run()");
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`);
}
