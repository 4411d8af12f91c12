import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { eventually, Sandbox } from "../../support/process.js";

interface ShownJob {
  readonly id: string;
  readonly job_id: string;
  readonly operation: string;
  readonly status: string;
  readonly credits_charged: number;
  readonly outputs: readonly {
    readonly type: string;
    readonly label: string;
    readonly track_id: string;
    readonly url: string;
    readonly content_type: string;
  }[];
  readonly [name: string]: unknown;
}

describe("fermata stems and fermata report", function () {
  this.timeout(120_000);
  let sandbox: Sandbox;
  let dataDir: string;
  let account: string;
  let api: ApiClient;
  let trackId: string;
  before(async () => {
    sandbox = new Sandbox();
    dataDir = await sandbox.dataDir();
    const url = await sandbox.call(["start"], dataDir, { FERMATA_DEMO__ENABLED: "false" }).listening();
    const create = ["accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "100"];
    account = (await json<{ id: string }>(...create)).id;
    api = new ApiClient(url, (await json<{ key: string }>("keys", "issue", account)).key);
    const { id } = dataOf<{ id: string }>(
      await api.generate({ model_id: "synth/song", prompt: "calm rain", duration: 5 }),
    );
    await ended(id);
    trackId =
      dataOf<{ tracks: readonly { id: string }[] }>(await api.get(`/api/v1/generations/${id}`)).tracks[0]?.id ?? "";
  });
  after(() => sandbox.clear());

  const json = <T>(...args: readonly string[]): Promise<T> => sandbox.json<T>(args, dataDir);
  const show = async (id: string): Promise<ShownJob> => dataOf<ShownJob>(await api.get(`/api/v1/jobs/${id}`));
  const ended = (id: string): Promise<unknown> =>
    eventually("ended", async () => ["completed", "failed"].includes((await show(id)).status), 90_000);

  it("splits a track: paid by its owner, polled under /jobs only, its stems to be fetched", async () => {
    const queued = await json<ShownJob>("stems", "split", trackId);
    expect(queued).to.include({ id: queued.job_id, operation: "stem_split", status: "queued", credits_charged: 8 });
    await ended(queued.id);
    const job = await show(queued.id);
    expect(job).to.include({ status: "completed", operation: "stem_split", provider: "synth", credits_charged: 8 });
    expect(job.outputs.map(({ label }) => label)).to.include.members(["drums", "bass", "other"]);
    for (const { type, track_id, url, content_type } of job.outputs) {
      expect([type, track_id]).to.deep.equal(["stem", trackId]);
      const file = await fetch(url);
      expect([file.status, file.headers.get("content-type")]).to.deep.equal([200, content_type]);
      await file.arrayBuffer();
    }
    expect((await api.get(`/api/v1/generations/${queued.id}`)).status).to.equal(404);
    const listed = dataOf<{ generations: readonly { id: string }[] }>(await api.get("/api/v1/generations"));
    expect(listed.generations.map(({ id }) => id)).to.not.include(queued.id);
    expect(dataOf<{ total_spent: number }>(await api.get("/api/v1/credits")).total_spent).to.equal(15 + 8);
  });

  it("removes vocals for another account, which pays and alone sees the job", async () => {
    const bob = (await json<{ id: string }>("accounts", "create", "bob", "--tier", "pro", "--credits", "10")).id;
    const refused = await sandbox.command(["stems", "remove-vocals", trackId, "--account", bob], dataDir);
    expect([refused.code, refused.stdout]).to.deep.equal([1, ""]);
    expect(refused.stderr).to.include("There is no such track.");
    const { id } = await json<ShownJob>("stems", "remove-vocals", trackId);
    await ended(id);
    const job = await show(id);
    expect(job).to.include({ status: "completed", operation: "vocal_removal", credits_charged: 5 });
    expect(job.outputs.map(({ label }) => label)).to.have.members(["vocals", "instrumental"]);
  });

  it("starts a split once under one reference, says so, and refuses the reference for another split", async () => {
    const reference = ["--reference", "order 17"];
    const { id } = await json<ShownJob>("stems", "split", trackId, ...reference);
    await ended(id);
    const spent = async (): Promise<unknown> => dataOf(await api.get("/api/v1/credits"))["total_spent"];
    const before = await spent();
    const again = await json<ShownJob>("stems", "split", trackId, ...reference);
    expect(again).to.include({ id, status: "completed", credits_charged: 8 });
    expect(again.outputs).to.not.be.empty;
    const human = await sandbox.command(["stems", "split", trackId, ...reference], dataDir);
    expect([human.code, human.stdout]).to.deep.equal([
      0,
      `order 17 was started already: ${id} is completed. Nothing was charged again.\n` +
        `See it with \`npm run -s fermata -- jobs show ${id}\`.\n`,
    ]);
    expect(await spent()).to.equal(before);
    const other = await sandbox.command(["stems", "remove-vocals", trackId, ...reference], dataDir);
    const message = `The reference order 17 was used for another job: ${id}, a stem_split of the track ${trackId}.\n`;
    expect([other.code, other.stdout, other.stderr]).to.deep.equal([1, "", message]);
    const empty = await sandbox.command(["stems", "split", trackId, "--reference", ""], dataDir);
    expect([empty.code, empty.stderr]).to.deep.equal([1, "A reference has 1 to 255 printable ASCII characters.\n"]);
    expect(await json<object>("ledger", "verify")).to.include({ ok: true });
    expect((await sandbox.command(["jobs", "show", id], dataDir)).stdout).to.match(/^reference +order 17$/m);
  });

  it("refuses a track that does not exist, and an account that does not, with exit code 1", async () => {
    for (const args of [
      ["trk_01j00000000000000000000000"],
      ["nonsense"],
      [trackId, "--account", "acct_01j00000000000000000000000"],
    ]) {
      const { code, stderr } = await sandbox.command(["stems", "split", ...args], dataDir);
      expect([code, /^There is no (such track|account \S+)\.\n$/.test(stderr)], stderr).to.deep.equal([1, true]);
    }
  });

  it("reports what came in and what it cost upstream", async () => {
    const report = await json<{
      providers: readonly { id: string; completed: number; credits_charged: number; margin: { USD: number } }[];
    }>(...["report", "margin", "--credit-price", "0.01"]);
    const [synth] = report.providers;
    expect(synth).to.include({ id: "synth" });
    expect(synth?.margin.USD).to.equal(Math.round((synth?.credits_charged ?? 0) * 0.01 * 1e6) / 1e6);
    expect((await sandbox.command(["report", "margin"], dataDir)).stdout).to.match(
      /^provider +done +failed +credits[^\n]*\nsynth /,
    );
    expect((await sandbox.command(["report", "margin", "--from", "yesterday"], dataDir)).code).to.equal(2);
    expect((await sandbox.command(["report", "margin", "--to", "2001-01-01"], dataDir)).stdout).to.equal(
      "No job ended in this time.\n",
    );
  });
});
