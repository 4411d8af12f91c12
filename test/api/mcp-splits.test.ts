import type { Client } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { dataOf } from "../support/api-client.js";
import { SPLIT_SETTINGS, SplittingProvider, submitSplits } from "../support/doubles/splitting-provider.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { codeOf, connectMcp, structured, textOf } from "../support/mcp-client.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

interface Output {
  readonly label: string;
  readonly url: string;
}

describe("Splits at /mcp", function () {
  this.timeout(30_000);
  let test: TestApp;
  let library: LibraryFixture;
  let client: Client;
  let account: TestAccount;
  let track: string;
  before(async () => {
    const provider = new SplittingProvider();
    provider.behaviour = submitSplits;
    test = await startTestApp({ ...UNHEARD, work: true, plugins: [provider.definition], settings: SPLIT_SETTINGS });
    library = await LibraryFixture.open(test.app);
  });
  beforeEach(async () => {
    account = await test.account({ credits: 100 });
    ({ rain: track = "" } = await library.add(account.account.id, { rain: { title: "Rain" } }));
    client = await connectMcp(test.url, account.key);
  });
  afterEach(() => client.close());
  after(async () => {
    await library.close();
    await test.close();
  });

  for (const [tool, operation, cost] of [
    ["split_stems", "stem_split", SPLIT_SETTINGS.stemSplit.creditCost],
    ["remove_vocals", "vocal_removal", SPLIT_SETTINGS.vocalRemoval.creditCost],
  ] as const) {
    it(`return the finished job with links to its files, for what get_track says it costs: ${tool}`, async () => {
      const shown = await client.callTool({ name: "get_track", arguments: { track_id: track } });
      const offer = { operation, credit_cost: cost, status: "available" };
      expect(structured(shown)["splits"]).to.deep.include(offer);
      const result = await client.callTool({ name: tool, arguments: { track_id: track } });
      expect(codeOf(result), textOf(result)).to.equal(null);
      const job = structured<{ job_id: string; outputs: Output[] }>(result);
      expect(job).to.include({ operation, status: "completed", credits_charged: cost });
      expect(job.outputs.map(({ label }) => label)).to.deep.equal(["vocals", "instrumental"]);
      const links = result.content.flatMap((block) => (block.type === "resource_link" ? [block.uri] : []));
      expect(links).to.deep.equal(job.outputs.map(({ url }) => url));
      for (const link of links) expect((await fetch(link)).headers.get("content-type")).to.equal("audio/wav");
      expect(dataOf(await account.api.get("/api/v1/credits"))).to.include({ available: 100 - cost, total_spent: cost });
    });
  }

  it("are charged once under one key, and refused of a track that is not there", async () => {
    const call = { name: "split_stems", arguments: { track_id: track, idempotency_key: "one" } };
    const [first, second] = [await client.callTool(call), await client.callTool(call)];
    expect(structured(first)["job_id"]).to.equal(structured(second)["job_id"]);
    expect(dataOf(await account.api.get("/api/v1/credits"))).to.include({ total_spent: 8 });
    const missing = await client.callTool({ name: "split_stems", arguments: { track_id: "trk_none" } });
    expect(codeOf(missing)).to.equal("track_not_found");
  });
});
