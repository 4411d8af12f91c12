import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { dataOf } from "../../support/api-client.js";
import { wavFile } from "../../support/audio-files.js";
import { openBrowser } from "../../support/browser.js";
import { DocsPage } from "../../support/docs-page.js";
import { repositoryPath } from "../../support/repository.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";

/** Not where the page of these tests comes from. */
const PUBLIC_URL = "http://music.test/behind";
const TITLE = `It's "mine" {x}`;

describe("What /docs sends, in a browser", function () {
  this.timeout(120_000);
  let browser: Browser;
  let test: TestApp;
  let caller: TestAccount;
  let docs: DocsPage;
  /** Of a caller, with the package and a file to upload. */
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "fermata-docs-"));
    await mkdir(join(folder, "node_modules"));
    await symlink(repositoryPath(), join(folder, "node_modules", "fermata-music"));
    test = await startTestApp({
      work: true,
      settings: { http: { port: 0, publicUrl: PUBLIC_URL }, plugins: { synth: { enabled: true } } },
    });
    caller = await test.account();
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await test.close();
    await rm(folder, { recursive: true });
  });
  afterEach(() => docs.close());

  const enter = async (operation: string): Promise<DocsPage> =>
    (docs = await DocsPage.open(browser, test.url, `#/operations/${operation}`));
  const balance = async (): Promise<number> => Number(dataOf(await caller.api.get("/api/v1/credits"))["available"]);

  it("has a fresh Idempotency-Key with each press, and the same one on demand", async () => {
    const open = await enter("createGeneration");
    const keys: (string | undefined)[] = [];
    open.page.on("request", (request) => {
      if (request.method() === "POST") keys.push(request.headers()["idempotency-key"]);
    });
    const press = async (): Promise<void> => {
      const response = open.page.waitForResponse((each) => each.request().method() === "POST");
      await open.button("Send POST").click();
      await open.button("Send it").click();
      expect((await response).status()).to.equal(202);
      await open.button("Send POST").waitFor();
    };
    const before = await balance();
    await open.button("Send POST").click();
    await open.alert("Enter an API key first.");
    await open.giveKey(caller.key);
    await open.giveBody("slow strings");
    await press();
    await press();
    expect([keys.length, new Set(keys).size]).to.deep.equal([2, 2]);
    await open.page.getByLabel(/^Same key again/).check();
    await press();
    await open.status("stored response, sent again");
    expect([keys.length, keys[2]]).to.deep.equal([3, keys[1]]);
    expect(await balance()).to.equal(before - 20);
    expect(await open.responseBody.textContent()).to.include('"status": "completed"');
    await open.page.getByText("Headers of the response").click();
    expect(await open.page.locator(".headers").innerText()).to.include("x-request-id");

    // The key and the id stay while the page is open, and nowhere else.
    await open.side.getByRole("link", { name: "Poll async job" }).click();
    await open.heading("Poll async job");
    await open.button("Send GET").click();
    await open.status("200");
    expect(await open.page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")).to.deep.equal([
      0,
      0,
      "",
    ]);
    open.expectQuiet();
  });

  it("is nothing when the body is not JSON, or when one thinks better of it", async () => {
    const open = await enter("createGeneration");
    await open.giveKey(caller.key);
    await open.button("Send POST").click();
    await open.button("Cancel").click();
    await open.page.getByLabel("Body", { exact: true }).fill("{ not JSON");
    await open.button("Send POST").click();
    await open.alert("The body is not valid JSON.");
    await open.button("Start over").click();
    expect(await open.page.getByLabel("Body", { exact: true }).inputValue()).to.include('"model_id": "synth/song"');
    expect(open.visit.requests.filter((request) => request.method() === "POST")).to.deep.equal([]);
  });

  it("speaks for the account that is signed in at the studio", async () => {
    const open = await enter("getProfile");
    const studio = await test.app.studioLink(caller.account.id);
    await open.page.goto(`${test.url}/${new URL(studio?.url ?? "").hash}`);
    await open.page.getByLabel("What would you like to hear?").waitFor();
    await open.page.goto(`${test.url}/docs#/operations/getProfile`);
    await open.page.getByText("as the account that is signed in at the studio").waitFor();
    await open.button("Send GET").click();
    await open.status("200");
    expect(await open.responseBody.textContent()).to.include(caller.account.id);
  });

  it("streams the events of a job, and shows what a refusal says", async () => {
    const body = { model_id: "synth/instrumental", prompt: "harp", duration: 10 };
    const { id } = dataOf<{ id: string }>(await caller.api.generate(body, { Prefer: "wait=60" }));
    const open = await enter("followJob");
    await open.giveKey(caller.key);
    await open.page.getByLabel("job_id").fill(id);
    await open.button("Send GET").click();
    await open.responseBody.filter({ hasText: "event: completed" }).waitFor();
    await open.page.getByLabel("job_id").fill("job_unknown");
    await open.button("Send GET").click();
    await open.status("404");
    expect(await open.responseBody.textContent()).to.include("job_not_found");
  });

  it("stops on demand", async () => {
    const open = await enter("getCredits");
    await open.giveKey(caller.key);
    await open.page.route("**/api/v1/credits", () => undefined);
    await open.button("Send GET").click();
    await open.button("Stop").click();
    await open.alert("Stopped.");
    await open.button("Send GET").waitFor();
  });

  it("is shown as code that runs, in every language: generations, reads, uploads, deletions", async () => {
    const samples = Float32Array.from({ length: 44_100 }, (_, at) => Math.sin(at / 20));
    await writeFile(join(folder, "audio.wav"), wavFile({ channels: [samples], sampleRate: 44_100 }));
    const open = await enter("createGeneration");
    await open.page.getByLabel("Prefer").fill("wait=60");
    await open.giveBody(`it's "quoted" \\ $HOME \`date\``);
    for (const data of await everyLanguage()) expect(data).to.include({ status: "completed" });
    await open.goTo("#/operations/getModel", "One model");
    await open.page.getByLabel("model_id").fill("synth/song");
    for (const data of await everyLanguage()) expect(data).to.include({ id: "synth/song" });
    await open.goTo("#/operations/searchLibrary", "Search tracks and playlists");
    await open.page.getByLabel("q (optional)").fill("nothing & nowhere");
    await open.page.getByLabel("limit (optional)").fill("5");
    for (const data of await everyLanguage())
      expect(data).to.deep.equal({ tracks: [], playlists: [], next_cursor: null });
    await open.goTo("#/operations/uploadTrack", "Upload a track");
    await open.page.getByLabel("title").fill(TITLE);
    const uploads = await everyLanguage();
    for (const data of uploads) expect(data).to.include({ title: TITLE });
    await open.goTo("#/operations/unshareTrack", "Stop sharing a track");
    await open.page.getByLabel("id", { exact: true }).fill(String(uploads[0]?.["id"]));
    for (const data of await everyLanguage()) expect(data).to.include({ share_url: null });
    await open.goTo("#/operations/splitTrack", "Split a track into stems");
    await open.page.getByLabel("id", { exact: true }).fill(String(uploads[0]?.["id"]));
    for (const data of await everyLanguage()) expect(data).to.include({ operation: "stem_split" });
  });

  it("is shown as code that follows a stream", async () => {
    const body = { model_id: "synth/instrumental", prompt: "harp", duration: 10 };
    const { id } = dataOf<{ id: string }>(await caller.api.generate(body, { Prefer: "wait=60" }));
    const open = await enter("followJob");
    await open.page.getByLabel("job_id").fill(id);
    const [curl, client, python] = await everyOutput();
    for (const output of [curl, python]) expect(output).to.include("event: completed");
    expect(JSON.parse(client ?? "")).to.include({ job_id: id, status: "completed" });
  });

  /** The data that the code of the shown operation prints. */
  async function everyLanguage(): Promise<Record<string, unknown>[]> {
    return (await everyOutput()).map((output) => {
      const printed = JSON.parse(output) as Record<string, unknown>;
      return (printed["data"] as Record<string, unknown> | undefined) ?? printed;
    });
  }

  async function everyOutput(): Promise<string[]> {
    const run = promisify(execFile);
    const options = { cwd: folder, env: { ...process.env, FERMATA_API_KEY: caller.key } };
    const commands = {
      curl: (code: string) => run("sh", ["-c", code], options),
      JavaScript: (code: string) => run(process.execPath, ["--input-type=module", "-e", code], options),
      Python: (code: string) => run("python3", ["-c", code], options),
    };
    const outputs: string[] = [];
    for (const [language, command] of Object.entries(commands)) {
      await docs.page.getByLabel(language, { exact: true }).check({ force: true });
      const code = (await docs.page.getByLabel(`The request in ${language}`).textContent()) ?? "";
      expect(code).to.include(PUBLIC_URL);
      // The second address comes with the response.
      const here = code
        .replaceAll(PUBLIC_URL, test.url)
        .replace(/(status_url)(?=[,)])/, `$1.replace("${PUBLIC_URL}", "${test.url}")`);
      outputs.push((await command(here)).stdout);
    }
    return outputs;
  }
});
