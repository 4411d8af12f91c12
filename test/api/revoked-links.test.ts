import { expect } from "chai";
import type { TrackId } from "../../core/ids.js";
import { dataOf } from "../support/api-client.js";
import { RecordingSender } from "../support/doubles/recording-sender.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

interface ShownTrack {
  readonly id: TrackId;
  readonly play_url: string;
  readonly thumbnail_url: string;
}

interface ShownJob {
  readonly outputs: readonly { readonly url: string }[];
}

describe("The signed links of an unshared track", () => {
  const sender = new RecordingSender();
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp({ work: true, webhookSender: sender, addressGuard: new StubGuard() });
    caller = await test.account();
    await test.app.webhooks.endpoints.create(caller.account.id, "https://hooks.example.com/");
  });
  after(() => test.close());

  const statusOf = async (url: string): Promise<number> => {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  };
  const statusesOf = (urls: readonly string[]): Promise<number[]> => Promise.all(urls.map(statusOf));

  /** A generation with one shared track. */
  async function generate(): Promise<{ readonly id: string; readonly track: ShownTrack }> {
    const { id } = dataOf<{ readonly id: string }>(await caller.api.generate(undefined, { Prefer: "wait=20" }));
    const track = await trackOf(id);
    await test.app.library.manage.share(track.id);
    return { id, track };
  }

  async function trackOf(id: string): Promise<ShownTrack> {
    const { tracks } = dataOf<{ readonly tracks: readonly ShownTrack[] }>(
      await caller.api.get(`/api/v1/generations/${id}`),
    );
    return tracks[0] as ShownTrack;
  }

  const outputOf = async (id: string): Promise<string> =>
    dataOf<ShownJob>(await caller.api.get(`/api/v1/jobs/${id}`)).outputs[0]?.url ?? "";

  const outputInWebhook = (id: string): Promise<string> =>
    eventually("a webhook about the job", () => {
      const sent = sender.messages.map(({ body }) => JSON.parse(body) as { data: ShownJob & { job_id: string } });
      return sent.find(({ data }) => data.job_id === id)?.data.outputs[0]?.url;
    });

  it("are revoked at once in every response, and new ones work", async () => {
    const { id, track } = await generate();
    const links = [track.play_url, track.thumbnail_url, await outputOf(id), await outputInWebhook(id)];
    expect(await statusesOf(links)).to.deep.equal([200, 200, 200, 200]);
    await test.app.library.manage.unshare(track.id);
    expect(await statusesOf(links)).to.deep.equal([403, 403, 403, 403]);
    const { play_url, thumbnail_url } = await trackOf(id);
    expect(await statusesOf([play_url, thumbnail_url, await outputOf(id)])).to.deep.equal([200, 200, 200]);
  });

  it("return the error envelope that says they are no longer valid", async () => {
    const { track } = await generate();
    await test.app.library.manage.unshare(track.id);
    const response = await fetch(track.play_url);
    const body = (await response.json()) as { readonly error: { readonly code: string; readonly message: string } };
    expect(body.error).to.include({ code: "not_found", message: "The link is not valid any more." });
  });

  it("stay valid while the track is only shared, and while another one is unshared", async () => {
    const [kept, other] = [await generate(), await generate()];
    await test.app.library.manage.unshare(other.track.id);
    expect(await statusesOf([kept.track.play_url, other.track.play_url])).to.deep.equal([200, 403]);
  });
});
