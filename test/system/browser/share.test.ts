import { expect } from "chai";
import type { Browser, BrowserContextOptions, Locator } from "playwright-core";
import type { TrackId } from "../../../core/ids.js";
import { aHost, bytesOf, createSynth, renderOne } from "../../plugins/synth-support.js";
import { expectAccessible, violationsIn } from "../../support/accessibility.js";
import { keepLooks, openBrowser, visit, type Visit } from "../../support/browser.js";
import { dataOf } from "../../support/api-client.js";
import { importTrack } from "../../support/library-import.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";

const TITLE = "Lanterns over the harbour";
const SECONDS = 60;

/** The members of an audio element that the tests read; Node has no types of browsers. */
interface Player {
  readonly currentTime: number;
  readonly paused: boolean;
  readonly controls: boolean;
  readonly seeking: boolean;
  readonly readyState: number;
}

/** The condition of a wait; also, no seek is in progress, and the duration is known. */
interface Wanted {
  /** Seconds that have played. */
  readonly after?: number;
  readonly isPaused?: boolean;
}

describe("The page of a shared track, in a browser", function () {
  this.timeout(120_000);
  let browser: Browser;
  let test: TestApp;
  let trackId: TrackId;
  let url: string;
  let open: Visit;

  before(async () => {
    const synth = createSynth(aHost());
    const chunk = await renderOne(synth, { prompt: "a warm evening by the sea", durationSeconds: SECONDS });
    await synth.close?.();
    test = await startTestApp();
    trackId = await importTrack(test.app, {
      title: TITLE,
      artist_label: "Fermata Synth",
      tags: { mood: ["warm"] },
      audio: bytesOf(chunk, "mix"),
    });
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await test.close();
  });
  beforeEach(async () => {
    url = `${test.url}/share/${(await test.app.library.manage.share(trackId)).shareToken}`;
  });
  afterEach(() => open.close());

  async function visitPage(options: BrowserContextOptions = {}): Promise<void> {
    open = await visit(browser, { viewport: { width: 1_100, height: 720 }, ...options });
    await open.page.goto(url);
  }

  const audio = (): Locator => open.page.locator("audio");
  const slider = (): Locator => open.page.getByRole("slider", { name: "Position" });
  const player = (): Promise<Player> =>
    audio().evaluate((element) => {
      const { currentTime, paused, controls, seeking, readyState } = element as unknown as Player;
      return { currentTime, paused, controls, seeking, readyState };
    });
  /** Resolves when playback has reached this position; the test's own limit is the bound. */
  const until = async (wanted: Wanted): Promise<void> =>
    void (await open.page.waitForFunction(({ after = -1, isPaused }) => {
      const { document } = globalThis as unknown as { readonly document: { querySelector(name: "audio"): Player } };
      const { currentTime, paused, seeking, readyState } = document.querySelector("audio");
      return currentTime > after && !seeking && (isPaused ?? paused) === paused && readyState > 0;
    }, wanted));

  it("plays, and shows the position", async () => {
    await visitPage();
    const { page } = open;
    expect((await player()).controls).to.equal(false);
    await page.getByRole("button", { name: "Play" }).click();
    await until({ after: 1.2 });
    // The label and the position follow the playback, which is slightly ahead of the page.
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await slider().and(page.locator(':not([aria-valuenow="0"])')).waitFor();
    expect(await slider().getAttribute("aria-valuetext")).to.match(/^0:\d\d of 1:00$/);
    expect(Number(await slider().getAttribute("aria-valuenow"))).to.be.at.least(1);
    expect(await page.locator("[data-now]").textContent()).to.match(/^0:0[1-9]$/);
    await page.getByRole("button", { name: "Pause" }).click();
    await until({ isPaused: true });
    await page.getByRole("button", { name: "Play" }).waitFor();
  });

  it("shows the same length as the API in the link preview, the page and the player", async () => {
    const { api } = await test.account();
    const { duration } = dataOf(await api.get(`/api/v1/tracks/${trackId}`));
    expect(duration).to.equal(SECONDS);
    await visitPage({ javaScriptEnabled: false });
    const { page } = open;
    const content = (name: string): Promise<string | null> =>
      page.locator(`meta[property="${name}"]`).getAttribute("content");
    expect([await content("music:duration"), await content("og:description")]).to.deep.equal([
      String(SECONDS),
      "Fermata Synth · 1:00",
    ]);
    expect(await page.locator("[data-total]").textContent()).to.equal("1:00");
    await open.close();

    await visitPage();
    await until({});
    expect(await audio().evaluate((element) => (element as unknown as { duration: number }).duration)).to.equal(
      SECONDS,
    );
    expect(await open.page.locator("[data-total]").textContent()).to.equal("1:00");
    await slider().focus();
    await open.page.keyboard.press("End");
    await until({ after: SECONDS - 1 });
    expect(await slider().getAttribute("aria-valuetext")).to.equal("1:00 of 1:00");
    expect(await open.page.locator("[data-now]").textContent()).to.equal("1:00");
  });

  it("seeks to the clicked position of the waveform, and fetches the file from there", async () => {
    await visitPage();
    await until({});
    const box = await slider().boundingBox();
    expect(box).not.to.equal(null);
    const { width, height } = box as { width: number; height: number };
    const partial = open.page.waitForResponse((response) =>
      /^bytes=[1-9]/.test(response.request().headers()["range"] ?? ""),
    );
    await slider().click({ position: { x: width * 0.75, y: height / 2 } });
    await until({});
    expect((await player()).currentTime).to.be.closeTo(SECONDS * 0.75, 1);
    const result = await partial;
    expect([result.status(), new URL(result.url()).pathname]).to.deep.equal([206, `${new URL(url).pathname}/audio`]);
    await open.page.getByRole("button", { name: "Play" }).click();
    await until({ after: SECONDS * 0.75 + 1 });
  });

  it("follows a drag along its waveform", async () => {
    await visitPage();
    await until({});
    const { x, y, width } = (await slider().boundingBox()) as { x: number; y: number; width: number };
    await open.page.mouse.move(x + width * 0.1, y + 10);
    await open.page.mouse.down();
    await open.page.mouse.move(x + width * 0.5, y + 10, { steps: 5 });
    expect(await slider().getAttribute("aria-valuetext")).to.match(/^0:(29|30) of 1:00$/);
    await open.page.mouse.move(x + width * 2, y + 10);
    await open.page.mouse.move(x + width * 0.25, y + 10);
    await open.page.mouse.up();
    await until({});
    expect((await player()).currentTime).to.be.closeTo(SECONDS * 0.25, 1);
  });

  it("can be played and seeked with the keyboard alone", async () => {
    await visitPage();
    await until({});
    const { keyboard } = open.page;
    const pressed = async (key: string): Promise<number> => {
      await keyboard.press(key);
      await until({});
      return (await player()).currentTime;
    };
    const focused = (): Promise<string | null> => open.page.locator(":focus").getAttribute("aria-label");
    await keyboard.press("Tab");
    expect(await focused()).to.equal("Play");
    await keyboard.press("Tab");
    expect(await focused()).to.equal("Position");
    expect(await pressed("ArrowRight")).to.be.closeTo(5, 0.1);
    expect(await pressed("ArrowUp")).to.be.closeTo(10, 0.1);
    expect(await pressed("ArrowLeft")).to.be.closeTo(5, 0.1);
    expect(await pressed("PageUp")).to.be.closeTo(5 + SECONDS / 10, 0.2);
    expect(await pressed("Home")).to.equal(0);
    expect(await pressed("ArrowDown")).to.equal(0);
    expect(await pressed("End")).to.be.closeTo(SECONDS, 0.2);
    await pressed("Home");
    await keyboard.press("Space");
    await until({ after: 0.3, isPaused: false });
    await keyboard.press("Space");
    await until({ isPaused: true });
  });

  it("contacts no other host, and causes no browser error", async () => {
    await visitPage();
    await open.page.getByRole("button", { name: "Play" }).click();
    await until({ after: 0.3 });
    expect(open.requests.length).to.be.at.least(5);
    expect(open.requests.map((request) => new URL(request.url()).origin)).to.deep.equal(
      open.requests.map(() => test.url),
    );
    expect(open.complaints).to.deep.equal([]);
  });

  it("plays without JavaScript in the browser's player", async () => {
    await visitPage({ javaScriptEnabled: false });
    expect(await open.page.getByRole("heading").textContent()).to.equal(TITLE);
    expect(await audio().isVisible()).to.equal(true);
    expect((await player()).controls).to.equal(true);
    expect(await open.page.getByRole("button", { name: "Play" }).count()).to.equal(0);
    expect(await open.page.locator(".wave svg.rest").isVisible()).to.equal(true);
    await audio().evaluate((element) => (element as unknown as { play(): Promise<void> }).play());
    // Without scripts nothing in the page can wait: the test polls until playback has advanced.
    while ((await player()).currentTime < 0.3);
    await keepLooks(open.page, "share-without-javascript");
  });

  const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
    light: { colorScheme: "light" },
    dark: { colorScheme: "dark" },
    "light-phone": { colorScheme: "light", viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 },
    "dark-phone": { colorScheme: "dark", viewport: { width: 320, height: 568 }, deviceScaleFactor: 2 },
    still: { colorScheme: "light", reducedMotion: "reduce", forcedColors: "active" },
  };
  for (const [name, options] of Object.entries(LOOKS)) {
    it(`is accessible: ${name}`, async () => {
      await visitPage(options);
      await until({});
      await slider().click({ position: { x: 90, y: 20 } });
      await until({});
      await expectAccessible(open.page);
      const [red = 0] =
        /\d+/.exec(await open.page.evaluate<string>("getComputedStyle(document.body).backgroundColor")) ?? [];
      if (options.forcedColors === undefined) expect(Number(red) > 127).to.equal(options.colorScheme === "light");
      await keepLooks(open.page, `share-${name}`);
    });
  }

  it("shows a message when the audio can no longer be played", async () => {
    await visitPage();
    await until({});
    await test.app.library.manage.unshare(trackId);
    await slider().focus();
    await open.page.keyboard.press("End");
    await open.page.getByRole("status").filter({ hasText: "cannot be played" }).waitFor();
  });

  it("returns 404 after the track is unshared", async () => {
    await visitPage();
    await until({});
    await test.app.library.manage.unshare(trackId);
    const response = await open.page.reload();
    expect(response?.status()).to.equal(404);
    expect(await open.page.getByRole("heading").textContent()).to.equal("Nothing is shared here");
    expect(await open.page.content())
      .to.include("taken it back")
      .and.not.include(TITLE);
    expect(await audio().count()).to.equal(0);
    expect(await violationsIn(open.page)).to.deep.equal([]);
    expect((await open.context.request.get(`${url}/audio`)).status()).to.equal(404);
    await keepLooks(open.page, "share-taken-back");
  });
});
