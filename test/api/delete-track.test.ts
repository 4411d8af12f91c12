import { expect } from "chai";
import type { LedgerPage } from "../../core/ports/ledger-store.js";
import { type ApiResponse, dataOf, errorOf, refusalOf } from "../support/api-client.js";
import { aChord, wavFile } from "../support/audio-files.js";
import { upload } from "../support/audio-form.js";
import { submitCompletes, submitHolds } from "../support/doubles/scripted-provider.js";
import { SPLIT_SETTINGS, SplittingProvider, submitSplits } from "../support/doubles/splitting-provider.js";
import { LibraryFixture } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { alongside, leftOf } from "./storage-reader.js";

interface ShownTrack {
  readonly id: string;
  readonly play_url: string;
  readonly thumbnail_url: string;
  readonly share_url: string;
}

interface ShownJob {
  readonly status: string;
  readonly credits_charged: number;
  readonly outputs: readonly { readonly url: string }[];
}

const SOUND = wavFile(aChord(1, () => 0.5, { sampleRate: 8_000, channelCount: 1 }));

describe("DELETE /api/v1/tracks/{id}", () => {
  const provider = new SplittingProvider();
  let test: TestApp;
  let library: LibraryFixture;
  let caller: TestAccount;
  before(async () => {
    const uploads = { maxTracks: 1 };
    const settings = { ...SPLIT_SETTINGS, tiers: { pro: { maxConcurrent: 10, uploads } } };
    test = await startTestApp({ work: true, plugins: [provider.definition], settings });
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });
  beforeEach(async () => {
    provider.behaviour = (request, context) =>
      request.operation === "music" ? submitCompletes(request, context) : submitSplits(request, context);
    caller = await test.account();
  });

  const remove = (id: string, { api } = caller): Promise<ApiResponse> => api.send("DELETE", `/api/v1/tracks/${id}`);
  const get = async <T>(path: string): Promise<T> => dataOf<T>(await caller.api.get(`/api/v1${path}`));
  const found = async (word: string): Promise<number> =>
    (await get<{ tracks: unknown[] }>(`/library/search?q=${word}`)).tracks.length;
  const statusesOf = (urls: readonly string[]): Promise<number[]> =>
    Promise.all(
      urls.map(async (url) => {
        const response = await fetch(url);
        await response.arrayBuffer();
        return response.status;
      }),
    );
  async function generate(): Promise<{ readonly id: string; readonly track: ShownTrack }> {
    const { id } = dataOf<{ id: string }>(await caller.api.generate(undefined, { Prefer: "wait=20" }));
    const { tracks } = await get<{ tracks: readonly ShownTrack[] }>(`/generations/${id}`);
    return { id, track: tracks[0] as ShownTrack };
  }
  const split = (id: string, key: string): Promise<ApiResponse> =>
    caller.api.send("POST", `/api/v1/tracks/${id}/stems`, { headers: { "Idempotency-Key": key } });

  it("ends a generated track with its links, its page and its stems; what it cost stays", async () => {
    const { files: before } = await leftOf(test);
    const { id, track } = await generate();
    const { job_id: splitId } = dataOf<{ job_id: string }>(await split(track.id, "one"));
    await test.app.generations.wait(splitId);
    const { share_url: page } = dataOf<ShownTrack>(await caller.api.send("POST", `/api/v1/tracks/${track.id}/share`));
    const { id: playlist } = await test.app.library.manage.createPlaylist({
      ...{ title: "Evenings", accountId: caller.account.id, visibility: "private", tracks: [track.id] },
    });
    const stems = (await get<ShownJob>(`/jobs/${splitId}`)).outputs.map(({ url }) => url);
    const links = [track.play_url, track.thumbnail_url, page, ...stems];
    expect(await statusesOf(links)).to.deep.equal([200, 200, 200, 200, 200]);

    const response = await remove(track.id);
    expect([response.status, response.text]).to.deep.equal([204, ""]);
    expect(response.headers.get("ratelimit")).to.match(/^"write-minute"/);
    expect(await statusesOf(links)).to.deep.equal([404, 404, 404, 404, 404]);
    expect((await leftOf(test)).files).to.equal(before);
    for (const path of [`/tracks/${track.id}`, `/tracks/${track.id}/details`])
      expect(refusalOf(await caller.api.get(`/api/v1${path}`))).to.equal("404 track_not_found");
    expect(await get(`/playlists/${playlist}`)).to.include({ track_count: 0 });
    expect(await found("rain")).to.equal(0);
    expect(await get(`/generations/${id}`)).to.deep.include({ status: "completed", credits_charged: 10, tracks: [] });
    for (const [jobId, cost] of [
      [id, 10],
      [splitId, 8],
    ] as const)
      expect(await get<ShownJob>(`/jobs/${jobId}`)).to.deep.include({ credits_charged: cost, outputs: [] });
    expect((await get<{ generations: unknown[] }>("/generations")).generations).to.have.length(1);
    expect(refusalOf(await remove(track.id))).to.equal("404 track_not_found");
    expect(refusalOf(await split(track.id, "two"))).to.equal("404 track_not_found");
  });

  it("frees the quota of an uploaded one, and leaves nothing of an imported one", async () => {
    const { files: before } = await leftOf(test);
    const { id } = dataOf<ShownTrack>(await upload(caller.api, SOUND));
    expect(refusalOf(await upload(caller.api, SOUND))).to.equal("400 invalid_request");
    expect((await remove(id)).status).to.equal(204);
    const { id: next } = dataOf<ShownTrack>(await upload(caller.api, SOUND));
    const { brought = "" } = await library.add(caller.account.id, { brought: { title: "Quokka" } });
    expect(await found("quokka")).to.equal(1);
    for (const one of [next, brought]) expect((await remove(one)).status).to.equal(204);
    expect(await found("quokka")).to.equal(0);
    expect((await leftOf(test)).files).to.equal(before);
    const exported: string[] = [];
    for await (const records of await test.app.exports.open(caller.account.id))
      for (const record of records) exported.push(record.type);
    expect(exported).to.not.include("track");
  });

  it("is refused while a split of it runs, and done once that has ended", async () => {
    const { track } = await generate();
    const held = submitHolds(submitSplits);
    provider.behaviour = held.behaviour;
    const { job_id: jobId } = dataOf<{ job_id: string }>(await split(track.id, "one"));
    const refused = await remove(track.id);
    expect(refusalOf(refused)).to.equal("400 invalid_request");
    expect(errorOf(refused).details?.issues).to.deep.equal([
      {
        path: "path.id",
        message: `is a track that the job ${jobId} works from; wait for its end, or cancel it`,
      },
    ]);
    expect(await statusesOf([track.play_url])).to.deep.equal([200]);
    held.release();
    await test.app.generations.wait(jobId);
    expect((await remove(track.id)).status).to.equal(204);
  });

  it("is for the owner alone, with the scope generations:create", async () => {
    const other = await test.account();
    const { open = "" } = await library.add(null, { open: { visibility: "public" } });
    const { own = "" } = await library.add(caller.account.id, { own: { visibility: "public" } });
    expect(refusalOf(await remove(own, other))).to.equal("404 track_not_found");
    for (const id of [open, "trk_unknown", "pls_01m7ysy25j6pcsftb5nnfsysak"])
      expect(refusalOf(await remove(id)), id).to.equal("404 track_not_found");
    const reader = await test.account({ scopes: ["library:read"] });
    expect(refusalOf(await remove(own, reader))).to.equal("403 insufficient_scope");
    expect((await caller.api.get(`/api/v1/tracks/${own}`)).status).to.equal(200);
    expect((await remove(own)).status).to.equal(204);
  });

  it("forgets the prompt of the generation, keeps the ledger right, and is no entry of the audit log", async () => {
    const { id, track } = await generate();
    await remove(track.id);
    const rows = await alongside(test, (_, { read }) => read("fermata_jobs").where({ id }).select("request"));
    expect(JSON.stringify(rows)).to.not.include("tin roof");
    expect(await test.app.audit.list({ action: "library.delete", limit: 5 })).to.deep.equal([]);
    await alongside(test, async ({ ledger }) => {
      expect((await ledger.audit()).violations).to.deep.equal([]);
      for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
        const page: LedgerPage = await ledger.auditPage(cursor, 50);
        expect(page.violations).to.deep.equal([]);
        cursor = page.next;
      }
    });
  });
});
