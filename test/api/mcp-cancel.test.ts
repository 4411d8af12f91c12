import type { Client } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { dataOf } from "../support/api-client.js";
import { submitAccepts } from "../support/doubles/scripted-provider.js";
import { openEventStream } from "../support/event-stream.js";
import { codeOf, connectMcp, type McpEra } from "../support/mcp-client.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const SONG = { model_id: "scripted/song", prompt: "rain on a tin roof", wait_seconds: 30 };

interface ListedGeneration {
  readonly id: string;
  readonly status: string;
}

describe("Cancellation at /mcp", function () {
  this.timeout(60_000);
  let test: TestApp;
  let client: Client;
  before(async () => {
    test = await startTestApp({ settings: { jobs: { shutdownGraceSeconds: 5 } } });
    test.provider.behaviour = submitAccepts(50);
  });
  afterEach(() => client.close());
  after(() => test.close());

  /** A call that is cancelled once its job is there. @returns the id of the job */
  async function cancelled(account: TestAccount, era: McpEra): Promise<string> {
    client = await connectMcp(test.url, account.key, { era });
    const cancel = new AbortController();
    const call = client
      .callTool(
        { name: "generate_music", arguments: SONG },
        { signal: cancel.signal, onprogress: () => cancel.abort(new Error("wanted no more")) },
      )
      .then(
        () => "completed",
        () => "cancelled",
      );
    expect(await call).to.equal("cancelled");
    const { generations } = dataOf<{ generations: ListedGeneration[] }>(await account.api.get("/api/v1/generations"));
    expect(generations).to.have.lengthOf(1);
    return (generations[0] as ListedGeneration).id;
  }

  it("cancels the job of a call that its client cancels, and refunds it", async () => {
    const account = await test.account({ credits: 100 });
    const id = await cancelled(account, "modern");
    const events = await openEventStream(account.api, `/api/v1/jobs/${id}/events`);
    await events.until(({ name }) => name === "failed");
    await events.ended;
    expect(dataOf(await account.api.get("/api/v1/credits"))).to.include({ available: 100 });
  });

  it("leaves the job alone where a connection ends that says nothing, and cancels it by a tool", async () => {
    const account = await test.account({ credits: 100 });
    const id = await cancelled(account, "legacy");
    expect(dataOf(await account.api.get(`/api/v1/jobs/${id}`))).to.include({ status: "queued" });
    const result = await client.callTool({ name: "cancel_job", arguments: { job_id: id } });
    expect(result.structuredContent).to.include({ job_id: id, status: "failed" });
    expect(dataOf(await account.api.get("/api/v1/credits"))).to.include({ available: 100 });
  });

  it("lets the server stop while a call waits", async () => {
    const other = await startTestApp({ settings: { jobs: { shutdownGraceSeconds: 20 } } });
    const account = await other.account();
    client = await connectMcp(other.url, account.key);
    let begun = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const call = client.callTool({ name: "generate_music", arguments: SONG }, { onprogress: () => begun() });
    await hasBegun;
    await other.close();
    expect(codeOf(await call)).to.equal("service_unavailable");
  });
});
