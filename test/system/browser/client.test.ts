import { readFile } from "node:fs/promises";
import { expect } from "chai";
import type { Browser } from "playwright-core";
import { openBrowser, visit, type Visit } from "../../support/browser.js";
import { SCRIPTED_TRACK, submitAccepts } from "../../support/doubles/scripted-provider.js";
import { repositoryPath } from "../../support/repository.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";

/** A page of an app that is served at the address of the API, with a script that loads the bundle as it is. */
const PAGE = `<!doctype html><title>App</title><link rel="icon" href="data:,">
<script type="module">
  import * as fermata from "./client.js";
  globalThis.fermata = fermata;
  globalThis.isReady = true;
</script>`;

/** What the script of the page returns; the types of browsers are not there. */
interface Outcome {
  readonly status: string;
  readonly percents: readonly (number | null)[];
  readonly error: { readonly name: string; readonly status: number; readonly hasKey: boolean };
  readonly aborted: string;
}

const RUN = `async (key) => {
  const { createClient } = globalThis.fermata;
  const client = createClient({ baseUrl: location.origin, apiKey: key });
  const input = { model_id: "scripted/song", prompt: "rain" };
  const percents = [];
  const onProgress = ({ percent }) => {
    percents.push(percent);
    globalThis.onPercent(percent);
  };
  const { status } = await client.generate(input, { onProgress });
  const thrown = await client.generate({ ...input, model_id: "scripted/none" }).catch((error) => error);
  const error = { name: thrown.name, status: thrown.status, hasKey: thrown.idempotencyKey.length === 32 };
  const signal = AbortSignal.abort();
  const aborted = await client.GET("/api/v1/me", { signal }).catch(({ name }) => name);
  return { status, percents, error, aborted };
}`;

describe("The bundle of the client, in a browser", function () {
  this.timeout(120_000);
  let browser: Browser;
  let test: TestApp;
  let open: Visit;

  before(async () => {
    test = await startTestApp({ work: true });
    browser = await openBrowser();
    open = await visit(browser);
    const bundle = await readFile(repositoryPath("adapters/client/generated/client.js"), "utf8");
    await open.page.route("**/app/*", (route) =>
      route.request().url().endsWith(".js")
        ? route.fulfill({ contentType: "text/javascript", body: bundle })
        : route.fulfill({ contentType: "text/html", body: PAGE }),
    );
    await open.page.goto(`${test.url}/app/page`);
    await open.page.waitForFunction("globalThis.isReady");
  });
  after(async () => {
    await open?.close();
    await browser?.close();
    await test?.close();
  });

  it("follows a generation by its events, throws errors by their code, and aborts", async () => {
    const { key } = await test.account();
    test.provider.behaviour = submitAccepts(50);
    let isSeen = false;
    await open.page.exposeFunction("onPercent", (percent: number | null) => (isSeen ||= percent === 40));
    test.provider.pollBehaviour = () => {
      const running = { state: "running", nextPollMs: 100, progress: { percent: 40 } } as const;
      return Promise.resolve(isSeen ? { state: "completed", tracks: [SCRIPTED_TRACK] } : running);
    };
    const outcome = await open.page.evaluate<Outcome>(`(${RUN})(${JSON.stringify(key)})`);
    expect(outcome.percents).to.include(40);
    expect({ ...outcome, percents: [] }).to.deep.equal({
      status: "completed",
      percents: [],
      error: { name: "InvalidModelError", status: 400, hasKey: true },
      aborted: "AbortError",
    });
    const asked = open.requests.map((request) => new URL(request.url()).pathname.replace(/job_\w+/, "{id}"));
    expect(asked).to.include("/api/v1/jobs/{id}/events").and.not.include("/api/v1/jobs/{id}");
  });
});
