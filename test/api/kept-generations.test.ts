import { expect } from "chai";
import type { TrackId } from "../../core/ids.js";
import { dataOf, refusalOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { submitCompletes, submitHolds } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

interface Generation {
  readonly id: string;
  readonly status: string;
  readonly tracks: readonly { readonly id: TrackId; readonly play_url: string; readonly share_url: string | null }[];
}

/** A 24th of how long links live. */
const PERIOD_MS = 3_600_000;

/** What was sent of a generation before must not be sent again once it has changed. */
describe("Generations that were read before", () => {
  const clock = new ManualClock();
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp({ work: true, clock });
  });
  beforeEach(async () => {
    test.provider.behaviour = submitCompletes;
    caller = await test.account();
  });
  after(() => test.close());

  /** As the list has it, which is as it is by itself. */
  async function read(id: string): Promise<Generation> {
    const { generations } = dataOf<{ readonly generations: readonly Generation[] }>(
      await caller.api.get("/api/v1/generations"),
    );
    const listed = generations.find((one) => one.id === id);
    expect(dataOf<Generation>(await caller.api.get(`/api/v1/generations/${id}`))).to.deep.equal(listed);
    return listed as Generation;
  }

  const statusOf = async (url: string): Promise<number> => {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  };

  async function generate(): Promise<{ readonly id: string; readonly trackId: TrackId; readonly play: string }> {
    const { id } = dataOf<{ readonly id: string }>(await caller.api.generate(undefined, { Prefer: "wait=20" }));
    const [track] = (await read(id)).tracks;
    return { id, trackId: track?.id as TrackId, play: track?.play_url ?? "" };
  }

  it("are the same again, byte for byte", async () => {
    const { id } = await generate();
    for (const path of ["/api/v1/generations", `/api/v1/generations/${id}`]) {
      const [first, second] = [await caller.api.get(path), await caller.api.get(path)];
      expect(second.text).to.equal(first.text);
    }
  });

  it("show the end of one that ran", async () => {
    const { behaviour, release } = submitHolds();
    test.provider.behaviour = behaviour;
    const submitted = test.provider.submitted(test.provider.submissions.length + 1);
    const { id } = dataOf<{ readonly id: string }>(await caller.api.generate());
    await submitted;
    expect((await read(id)).status).to.equal("processing");
    release();
    await test.app.generations.wait(id);
    const { status, tracks } = await read(id);
    expect([status, tracks.length]).to.deep.equal(["completed", 1]);
  });

  it("show that a track is shared, and that it is not any more, with links that work", async () => {
    const { id, trackId, play } = await generate();
    await test.app.library.manage.share(trackId);
    expect((await read(id)).tracks[0]?.share_url).to.match(/\/share\/\w{22}$/);
    await test.app.library.manage.unshare(trackId);
    const [track] = (await read(id)).tracks;
    expect(track?.share_url).to.equal(null);
    expect([await statusOf(play), await statusOf(track?.play_url ?? "")]).to.deep.equal([403, 200]);
  });

  it("show no track that was deleted", async () => {
    const { id, trackId } = await generate();
    await test.app.library.manage.deleteTrack(trackId);
    expect((await read(id)).tracks).to.deep.equal([]);
  });

  it("have links of the secret key that is in force", async () => {
    const { id, play } = await generate();
    await test.app.secrets.rotate();
    const [track] = (await read(id)).tracks;
    expect(track?.play_url).not.to.equal(play);
    expect([await statusOf(play), await statusOf(track?.play_url ?? "")]).to.deep.equal([200, 200]);
  });

  it("have links that live as long as new ones", async () => {
    const { id, play } = await generate();
    await clock.advance(PERIOD_MS);
    const [track] = (await read(id)).tracks;
    const expiry = (url: string): number => Number(new URL(url).searchParams.get("expires"));
    expect(expiry(track?.play_url ?? "") - expiry(play)).to.equal(PERIOD_MS / 1000);
  });

  it("are none of another account's", async () => {
    const { id } = await generate();
    const other = await test.account();
    expect(refusalOf(await other.api.get(`/api/v1/generations/${id}`))).to.equal("404 job_not_found");
    expect(dataOf(await other.api.get("/api/v1/generations"))).to.deep.equal({ generations: [], next_cursor: null });
  });
});
