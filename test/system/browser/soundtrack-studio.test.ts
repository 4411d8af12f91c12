import { cp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expectAccessible } from "../../support/accessibility.js";
import { keepLooks, openBrowser, visit, type Visit } from "../../support/browser.js";
import { ExampleProcess } from "../../support/example-process.js";
import { InstalledPackage } from "../../support/installed-package.js";
import { createMysqlDatabase } from "../../support/mysql.js";
import { query } from "../../support/mysql-server.js";
import { repositoryPath } from "../../support/repository.js";
import { freePort } from "../../support/services.js";

const FOLDER = repositoryPath("test", "examples", "soundtrack-studio");
const PASSWORD = "correct horse battery";

/** The members of an audio element that the tests use; Node has no types of browsers. */
interface Player {
  readonly currentTime: number;
  readonly duration: number;
  play(): Promise<void>;
  pause(): void;
}

interface StoredOrder {
  readonly id: string;
  readonly state: string;
  readonly cents: number;
  readonly job_id: string;
}

describe("The example soundtrack-studio, with the packed package, on MySQL and in a browser", function () {
  this.timeout(180_000);
  let app: InstalledPackage;
  let database: { readonly url: string; drop(): Promise<void> };
  let browser: Browser;
  let port: number;
  let url: string;
  let studio: ExampleProcess;
  let open: Visit | null = null;
  let users = 0;

  before(async () => {
    app = await InstalledPackage.open();
    await app.addApp();
    await app.install("@types/express");
    await cp(FOLDER, app.folder, { recursive: true });
    await app.compile("server", await readFile(join(FOLDER, "server.ts"), "utf8"));
    database = await createMysqlDatabase();
    browser = await openBrowser();
    port = await freePort();
    url = `http://127.0.0.1:${port}`;
    await start();
  });
  afterEach(async () => {
    await open?.close();
    open = null;
  });
  after(async () => {
    await browser.close();
    await studio.kill();
    await database.drop();
    await app.remove();
  });

  async function start(): Promise<void> {
    studio = ExampleProcess.start("server.js", app.folder, {
      PATH: process.env["PATH"],
      PORT: String(port),
      FERMATA_STORAGE__URL: database.url,
      FERMATA_DATA_DIR: join(app.folder, "data"),
      FERMATA_LOGS__LEVEL: "error",
      FERMATA_JOBS__LEASE_SECONDS: "5",
      FERMATA_PLUGINS__SYNTH__TEST_HOOKS: "true",
    });
    const line = await studio.line();
    if (line !== url) throw new Error(`${line}: ${studio.errors}`);
  }

  async function visitStudio(options: BrowserContextOptions = {}): Promise<Page> {
    open = await visit(browser, { viewport: { width: 1_280, height: 900 }, ...options });
    await open.page.goto(url);
    return open.page;
  }

  /** @returns the email address of the new user */
  async function signUp(page: Page): Promise<string> {
    const email = `user-${++users}@example.com`;
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create an account" }).click();
    await page.getByRole("heading", { name: "Order a soundtrack" }).waitFor();
    return email;
  }

  async function order(page: Page, prompt: string, seconds = 10): Promise<void> {
    await page.getByLabel("What does it sound like?").fill(prompt);
    await page.getByLabel("Seconds").fill(String(seconds));
    await page.getByRole("button", { name: "Order for $2" }).click();
  }

  const stateOf = (page: Page, state: string): Locator => page.locator(`#orders > li[data-state=${state}]`);

  /** Plays to this second, and pauses. @returns the length in seconds */
  async function play(audio: Locator, second: number): Promise<number> {
    return audio.evaluate(async (element, to) => {
      const player = element as unknown as Player & { ontimeupdate: unknown };
      const reached = new Promise((resolve) => {
        player.ontimeupdate = () => player.currentTime >= to && resolve(null);
      });
      await player.play();
      await reached;
      player.pause();
      return player.duration;
    }, second);
  }

  /** What the tables of both hold of a user: orders, and what Fermata has of the user's account. */
  async function rowsOf(email: string) {
    const of = <Row>(sql: string): Promise<Row[]> => query<Row>(database.url, sql, [email]);
    const account = "JOIN fermata_accounts ON external_id = studio_users.id AND email = ?";
    const ofAccount = (table: string): string =>
      `SELECT ${table}.* FROM ${table} JOIN studio_users ${account} ON ${table}.account_id = fermata_accounts.id`;
    const ofUser = "SELECT studio_orders.* FROM studio_orders JOIN studio_users ON user_id = studio_users.id";
    return {
      orders: await of<StoredOrder>(`${ofUser} AND email = ? ORDER BY created_at`),
      jobs: await of<{ readonly status: string }>(ofAccount("fermata_jobs")),
      entries: await of<{ readonly kind: string; readonly pack: number }>(ofAccount("fermata_ledger_entries")),
      balances: await of<{ readonly pack: number; readonly spent: number }>(ofAccount("fermata_balances")),
    };
  }

  async function expectGoodLook(page: Page, name: string): Promise<void> {
    await expectAccessible(page);
    await keepLooks(page, `studio-${name}`, { fullPage: true });
  }

  it("has less than 400 lines, none of them longer than 120 columns", async () => {
    const files = await readdir(FOLDER);
    const texts = await Promise.all(files.map((file) => readFile(join(FOLDER, file), "utf8")));
    const lines = texts.flatMap((text) => text.trimEnd().split("\n"));
    expect(files).to.include("server.ts");
    expect(lines.length).to.be.below(400);
    expect(lines.filter((line) => line.length > 120)).to.deep.equal([]);
  });

  const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
    light: { colorScheme: "light" },
    "phone-dark": { colorScheme: "dark", viewport: { width: 390, height: 844 } },
  };
  for (const [look, options] of Object.entries(LOOKS)) {
    it(`sells a soundtrack that plays, then its stems: ${look}`, async () => {
      const page = await visitStudio(options);
      await expectGoodLook(page, `${look}-entrance`);
      const email = await signUp(page);
      await expectGoodLook(page, `${look}-nothing-yet`);
      await order(page, "a night drive, synthwave with drums and bass", 10);
      await page.locator("#orders > li").waitFor();
      await keepLooks(page, `studio-${look}-ordered`, { fullPage: true });
      await stateOf(page, "ready").waitFor();
      expect(await page.getByRole("status").textContent()).to.equal(
        "a night drive, synthwave with drums and bass: Ready",
      );
      expect(await play(page.locator("audio"), 0.3)).to.be.closeTo(10, 0.1);
      await expectGoodLook(page, `${look}-ready`);

      await page.getByRole("button", { name: "Split into stems for $1" }).click();
      await stateOf(page, "split").waitFor();
      expect(await page.locator("figcaption").allTextContents()).to.include.members(["drums", "bass", "other"]);
      for (const stem of (await page.locator("audio").all()).slice(1))
        expect(await play(stem, 0.2)).to.be.closeTo(10, 0.1);
      await expectGoodLook(page, `${look}-stems`);

      const { orders, entries, balances } = await rowsOf(email);
      expect(orders.map(({ state, cents }) => [state, cents])).to.deep.equal([["split", 300]]);
      const kinds = ["grant", "reserve", "charge", "grant", "reserve", "charge"];
      expect(entries.map(({ kind }) => kind)).to.deep.equal(kinds);
      expect(balances[0]).to.include({ pack: 0, spent: 18 });
      expect(open?.complaints).to.deep.equal([]);
      const origins = new Set(open?.requests.map((request) => new URL(request.url()).origin));
      expect([...origins]).to.deep.equal([url]);
    });
  }

  it("can be used with the keyboard alone", async () => {
    const page = await visitStudio();
    const { keyboard } = page;
    const type = async (text: string): Promise<void> => {
      await keyboard.press("Tab");
      await keyboard.type(text);
    };
    await type("keys@example.com");
    await type(PASSWORD);
    await keyboard.press("Tab");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "Order a soundtrack" }).waitFor();
    await keyboard.press("Tab"); // signs out
    await type("a brass fanfare");
    await type("10");
    await keyboard.press("Enter");
    await stateOf(page, "ready").waitFor();
    const split = page.getByRole("button", { name: "Split into stems for $1" });
    const isFocused = (): Promise<boolean> =>
      split.evaluate((button) => (button as unknown as { matches(css: string): boolean }).matches(":focus-visible"));
    while (!(await isFocused())) await keyboard.press("Tab");
    await keepLooks(page, "studio-focus");
    await keyboard.press("Enter");
    await stateOf(page, "split").waitFor();
    expect(await page.evaluate<string>("document.activeElement.tagName")).to.equal("LI");
  });

  it("shows users their own orders alone, and what they wrote as text", async () => {
    const page = await visitStudio();
    const policy = (await page.request.get(url)).headers()["content-security-policy"];
    expect(policy).to.include("default-src 'self';").and.not.include("unsafe");
    const email = await signUp(page);
    const prompt = `<img src=x onerror="document.title='run'"> & rain`;
    await order(page, prompt);
    await stateOf(page, "ready").waitFor();
    expect(await page.getByRole("heading", { level: 3 }).textContent()).to.equal(prompt);
    expect(await page.title()).to.equal("Soundtrack Studio");
    const [bought] = (await rowsOf(email)).orders;
    const [job, split] = [`${url}/music/api/v1/jobs/${bought?.job_id}`, `${url}/orders/${bought?.id}/split`];
    expect((await page.request.get(job)).status()).to.equal(200);
    await open?.close();

    const other = await visitStudio();
    const statuses = async (): Promise<number[]> => [
      (await other.request.get(`${url}/orders`)).status(),
      (await other.request.get(job)).status(),
      (await other.request.post(split, { data: {} })).status(),
    ];
    expect(await statuses()).to.deep.equal([401, 401, 401]);
    await signUp(other);
    expect(await statuses()).to.deep.equal([200, 404, 409]);
    expect(await (await other.request.get(`${url}/orders`)).json()).to.deep.equal([]);
    expect(await other.getByRole("status").textContent()).to.include("None yet");
    // Reads alone are open to a session: credits are spent by orders.
    const input = { model_id: "synth/instrumental", prompt: "rain" };
    const headers = { "Idempotency-Key": "one" };
    const created = await other.request.post(`${url}/music/api/v1/generations`, { data: input, headers });
    expect(created.status()).to.equal(403);
  });

  it("signs in with the right password alone, and out", async () => {
    const page = await visitStudio();
    const email = await signUp(page);
    const [session] = await page.context().cookies();
    expect(session).to.include({ name: "studio", httpOnly: true, sameSite: "Lax" });
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect((await page.request.get(`${url}/orders`)).status()).to.equal(401);

    const signIn = async (name: string, password: string): Promise<void> => {
      await page.getByLabel("Email").fill(name);
      await page.getByLabel("Password").fill(password);
      await page.getByRole("button", { name: "Sign in" }).click();
    };
    for (const [name, password] of [
      [email, "wrong horse battery"],
      ["unknown@example.com", PASSWORD],
    ] as const) {
      await signIn(name, password);
      await page.getByRole("alert").filter({ hasText: "The email address or the password is wrong." }).waitFor();
      expect((await page.request.get(`${url}/orders`)).status()).to.equal(401);
      await keepLooks(page, "studio-refused");
    }
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button", { name: "Create an account" }).click();
    await page.getByRole("alert").filter({ hasText: "This email address has an account already." }).waitFor();
    await signIn(email.toUpperCase(), PASSWORD);
    await page.getByRole("heading", { name: "Order a soundtrack" }).waitFor();
    const statuses = open?.complaints.map((complaint) => /status of (\d+)/.exec(complaint)?.[1] ?? complaint);
    expect(statuses, "what Chromium says of refused requests").to.deep.equal(["401", "401", "409"]);

    const tables = ["studio_users", "studio_sessions"].map((table) => query(database.url, `SELECT * FROM ${table}`));
    const stored = JSON.stringify(await Promise.all(tables), (_key, value: unknown) =>
      isBytes(value) ? Buffer.from(value.data).toString("latin1") : value,
    );
    const [current] = await page.context().cookies();
    expect(stored).to.include(email).and.not.include(PASSWORD).and.not.include(String(current?.value));
  });

  it("leaves neither order nor credits nor generation of an order that fails half-way", async () => {
    const page = await visitStudio();
    const email = await signUp(page);
    await order(page, "a".repeat(3_001));
    await page.getByRole("alert").filter({ hasText: "must have 1 to 3000 characters; it has 3001" }).waitFor();
    const nothing = { orders: [], jobs: [], entries: [] };
    const { balances, ...refused } = await rowsOf(email);
    expect(refused).to.deep.equal(nothing); // the grant came before the refusal
    expect(balances[0]).to.include({ pack: 0, spent: 0 });

    const rule = "ALTER TABLE studio_orders ADD CONSTRAINT no_hum CHECK (prompt <> 'hum')";
    await query(database.url, rule);
    await order(page, "hum");
    await page.getByRole("alert").filter({ hasText: "Something went wrong. Try again later." }).waitFor();
    await query(database.url, "ALTER TABLE studio_orders DROP CONSTRAINT no_hum");
    const { balances: after, ...failed } = await rowsOf(email);
    expect(failed).to.deep.equal(nothing); // the generation came before the order's own row
    expect(after[0]).to.include({ pack: 0, spent: 0 });
    expect(await page.locator("#orders > li").count()).to.equal(0);
  });

  it("takes orders at the same moment, each with credits of its own", async () => {
    const page = await visitStudio();
    const email = await signUp(page);
    const data = { prompt: "rain", seconds: "10" };
    const orders = [1, 2, 3].map(async () => (await page.request.post(`${url}/orders`, { data })).status());
    expect(await Promise.all(orders)).to.deep.equal([200, 200, 200]);
    await page.reload();
    await stateOf(page, "ready").nth(2).waitFor();
    const { entries, balances } = await rowsOf(email);
    expect(entries.filter(({ kind }) => kind === "grant")).to.have.lengthOf(3);
    expect(balances[0]).to.include({ pack: 0, spent: 30 });
  });

  it("pays the next order with the credits that a failure refunded", async () => {
    const page = await visitStudio();
    const email = await signUp(page);
    await order(page, "rain [[fail:content_rejected]]");
    await stateOf(page, "failed").getByText("The next one is free").waitFor();
    await expectGoodLook(page, "failed");
    await order(page, "rain");
    await stateOf(page, "ready").getByText("$0").waitFor();
    const { orders, entries } = await rowsOf(email);
    expect(orders.map(({ state, cents }) => [state, cents])).to.deep.equal([
      ["failed", 200],
      ["ready", 0],
    ]);
    const kinds = ["grant", "reserve", "refund", "reserve", "charge"];
    expect(entries.map(({ kind }) => kind)).to.deep.equal(kinds);
  });

  it("finishes after it was killed what it was at, and keeps what is finished", async () => {
    const page = await visitStudio();
    const email = await signUp(page);
    await order(page, "rain");
    await stateOf(page, "ready").waitFor();
    await order(page, "wind [[delay:2]]");
    await stateOf(page, "composing").waitFor();
    await studio.kill();
    expect((await rowsOf(email)).orders.map(({ state }) => state)).to.deep.equal(["ready", "composing"]);
    await start();
    await page.reload();
    await stateOf(page, "ready").nth(1).waitFor();
    for (const audio of await page.locator("audio").all()) expect(await play(audio, 0.2)).to.be.closeTo(10, 0.1);
    expect((await rowsOf(email)).orders.map(({ cents }) => cents)).to.deep.equal([200, 200]);
  });

  it("hears after its start of what ended while it was down", async () => {
    const page = await visitStudio();
    const email = await signUp(page);
    await order(page, "rain");
    await stateOf(page, "ready").waitFor();
    await studio.kill();
    // As if it had been killed before it wrote this: another process may have worked on the job.
    const [heard] = await query<{ heard: string }>(database.url, "SELECT heard FROM studio_events");
    await query(database.url, "UPDATE studio_events SET heard = ?", [String(Number(heard?.heard) - 1)]);
    await query(
      database.url,
      "UPDATE studio_orders SET state = 'composing', track_id = NULL ORDER BY created_at DESC LIMIT 1",
    );
    await start();
    await page.reload();
    await stateOf(page, "ready").waitFor();
    expect((await rowsOf(email)).orders.map(({ state }) => state)).to.deep.equal(["ready"]);
  });

  it("ends at SIGTERM while a page is open and plays", async () => {
    const page = await visitStudio();
    await signUp(page);
    await order(page, "rain", 60);
    await stateOf(page, "ready").waitFor();
    await play(page.locator("audio"), 0.2);
    expect(await studio.stop()).to.equal(0);
    expect(studio.errors).to.equal("");
    await start();
  });
});

/** A Buffer as `JSON.stringify` passes it. */
function isBytes(value: unknown): value is { readonly data: readonly number[] } {
  return typeof value === "object" && value !== null && "type" in value && value.type === "Buffer";
}
