import { expect } from "chai";
import { ApiClient, dataOf, errorOf, issuePaths, refusalOf } from "../../support/api-client.js";
import { aChord, wavFile } from "../../support/audio-files.js";
import { upload } from "../../support/audio-form.js";
import { submitCompletes, submitHolds } from "../../support/doubles/scripted-provider.js";
import { SPLIT_SETTINGS, SplittingProvider, submitSplits } from "../../support/doubles/splitting-provider.js";
import { LibraryFixture, unsigned } from "../../support/library-fixture.js";
import { eventually } from "../../support/process.js";
import type { TestAccount, TestApp } from "../../support/test-app.js";
import { AdminClient, startAdminApp } from "./admin-client.js";

const SOUND = wavFile(aChord(1, () => 0.5, { sampleRate: 8_000, channelCount: 1 }));

interface Started {
  readonly job: { readonly id: string; readonly account: string; readonly kind: string };
  readonly repeated: boolean;
}

interface AuditRecord {
  readonly action: string;
  readonly account: string | null;
  readonly targets: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

describe("Music at the admin API", () => {
  let test: TestApp;
  let owner: AdminClient;
  let url: string;
  let library: LibraryFixture;
  let provider: SplittingProvider;
  let radio: TestAccount;
  before(async () => {
    provider = new SplittingProvider();
    ({ test, owner, url } = await startAdminApp({
      work: true,
      plugins: [provider.definition],
      settings: { ...SPLIT_SETTINGS, tiers: { free: { uploads: { maxTracks: 1 } } } },
    }));
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });
  beforeEach(async () => {
    provider.behaviour = submitCompletes;
    radio = await test.account({ credits: 100 });
  });

  const available = async ({ account }: TestAccount): Promise<unknown> =>
    dataOf(await owner.get(`/accounts/${account.id}/credits`))["available"];
  const audited = async (): Promise<AuditRecord | undefined> =>
    dataOf<{ records: readonly AuditRecord[] }>(await owner.get("/audit?limit=1")).records[0];
  const addTrack = async (account: TestAccount | null, title = "Rain"): Promise<string> => {
    const { track = "" } = await library.add(account?.account.id ?? null, { track: { title } });
    return track;
  };

  describe("creates a generation", () => {
    const asked = { model_id: "scripted/song", prompt: "slow waltz", duration: 30, options: { seed: 42 } };
    const create = (body: object = asked, key?: string, reason?: string): ReturnType<AdminClient["send"]> =>
      owner.send(
        "POST",
        `/accounts/${radio.account.id}/generations`,
        body,
        reason,
        key === undefined ? {} : { "Idempotency-Key": key },
      );

    it("that the account pays and gets, and says who did it and why", async () => {
      const created = await create(asked, undefined, "order 17");
      expect(created.status).to.equal(202);
      const { job, repeated } = dataOf<Started>(created);
      expect([job.account, job.kind, repeated]).to.deep.equal([radio.account.id, "music", false]);
      expect(await available(radio)).to.equal(90);
      await eventually("completed", async () => {
        const { status } = dataOf(await radio.api.get(`/api/v1/generations/${job.id}`));
        return status === "completed";
      });
      expect(provider.submissions.at(-1)).to.deep.include({ prompt: "slow waltz", durationSeconds: 30 });
      expect(await audited()).to.deep.include({
        action: "generations.create",
        account: radio.account.id,
        targets: [job.id],
        fields: { model: "scripted/song", credits: 10, why: "order 17" },
      });
    });

    it("once under one key, also when both requests come at once", async () => {
      const [one, two] = await Promise.all([create(asked, "key 1"), create(asked, "key 1")]);
      const jobs = [one, two].map((response) => dataOf<Started>(response));
      expect(jobs[0]?.job.id).to.equal(jobs[1]?.job.id);
      expect(jobs.map(({ repeated }) => repeated)).to.have.members([true, false]);
      expect(await available(radio)).to.equal(90);
      expect(refusalOf(await create({ ...asked, prompt: "fast waltz" }, "key 1"))).to.equal("409 idempotency_conflict");
      const list = await test.app.audit.list({ accountId: radio.account.id, limit: 10 });
      expect(list.filter(({ action }) => action === "generations.create")).to.have.length(1);
      await create();
      expect(await available(radio)).to.equal(80);
    });

    it("by the rules of the public API", async () => {
      expect(issuePaths(await create({ ...asked, prompt: "" }))).to.deep.equal(["body.prompt"]);
      expect(issuePaths(await create(asked, "ü"))).to.deep.equal(["header.Idempotency-Key"]);
      expect(refusalOf(await create({ ...asked, model_id: "none/of-these" }))).to.equal("400 invalid_model");
      expect(refusalOf(await owner.send("POST", "/accounts/acct_x/generations", asked))).to.equal("404 not_found");
      const poor = await test.account({ credits: 9 });
      expect(refusalOf(await owner.send("POST", `/accounts/${poor.account.id}/generations`, asked))).to.equal(
        "402 insufficient_credits",
      );
      expect(await available(radio)).to.equal(100);
    });
  });

  describe("splits a track", () => {
    for (const { path, kind, cost } of [
      { path: "stems", kind: "stem_split", cost: 8 },
      { path: "vocal-removal", kind: "vocal_removal", cost: 5 },
    ] as const)
      it(`once under one reference: ${path}`, async () => {
        provider.behaviour = submitSplits;
        const track = await addTrack(radio);
        const split = (body?: object): ReturnType<AdminClient["send"]> =>
          owner.send("POST", `/tracks/${track}/${path}`, body, "their order");
        const first = await split({ reference: "order 17" });
        expect(first.status).to.equal(202);
        const { job } = dataOf<Started>(first);
        expect([job.account, job.kind]).to.deep.equal([radio.account.id, kind]);
        expect(dataOf<Started>(await split({ reference: "order 17" }))).to.deep.include({ repeated: true });
        expect(await available(radio)).to.equal(100 - cost);
        expect(await audited()).to.deep.include({
          action: "splits.start",
          targets: [job.id],
          fields: { kind, track, credits: cost, why: "their order" },
        });
        expect(dataOf<Started>(await split()).job.id).not.to.equal(job.id);
        expect(await available(radio)).to.equal(100 - 2 * cost);
      });

    it("that belongs to no one, for an account that is named", async () => {
      provider.behaviour = submitSplits;
      const track = await addTrack(null);
      const unnamed = await owner.send("POST", `/tracks/${track}/stems`, {});
      expect([refusalOf(unnamed), errorOf(unnamed).message]).to.deep.equal([
        "400 invalid_request",
        `The track ${track} has no owner. Name the account that pays.`,
      ]);
      const { job } = dataOf<Started>(
        await owner.send("POST", `/tracks/${track}/stems`, { account: radio.account.id }),
      );
      expect(job.account).to.equal(radio.account.id);
      expect(await available(radio)).to.equal(92);
      const theirs = { account: (await test.account()).account.id };
      expect(refusalOf(await owner.send("POST", `/tracks/${await addTrack(radio)}/stems`, theirs))).to.equal(
        "404 track_not_found",
      );
      expect(refusalOf(await owner.send("POST", "/tracks/trk_x/vocal-removal"))).to.equal("404 track_not_found");
    });
  });

  it("finds tracks and playlists as an account does, and shows each with its owner", async () => {
    const other = await test.account();
    const ids = await library.add(
      radio.account.id,
      { rain: { title: "Quokka rain", tags: { mood: ["calm"] } }, sun: { title: "Quokka sun" } },
      { wet: { title: "Quokka days", tracks: ["rain"] } },
    );
    await addTrack(other, "Quokka of others");
    const found = async (query: string): Promise<{ tracks: readonly Record<string, unknown>[]; playlists: object[] }> =>
      dataOf(await owner.get(`/accounts/${radio.account.id}/tracks?${query}`));
    const { tracks, playlists } = await found("q=quokka");
    expect(tracks.map(({ id }) => id)).to.have.members([ids["rain"], ids["sun"]]);
    expect(playlists).to.have.length(1);
    expect(playlists[0]).to.include({ id: ids["wet"], account: radio.account.id, track_count: 1 });
    expect((await found("q=quokka&mood=calm")).tracks.map(({ id }) => id)).to.deep.equal([ids["rain"]]);
    expect((await found("q=quokka&limit=1")).tracks).to.have.length(1);
    expect(issuePaths(await owner.get(`/accounts/${radio.account.id}/tracks?limit=26`))).to.deep.equal(["query.limit"]);
    expect(refusalOf(await owner.get("/accounts/acct_x/tracks"))).to.equal("404 not_found");
    const { splits, ...alone } = dataOf(await owner.get(`/tracks/${ids["rain"]}`));
    expect(unsigned(alone)).to.deep.equal(unsigned(tracks.find(({ id }) => id === ids["rain"]) ?? {}));
    expect(alone).to.include({ account: radio.account.id, visibility: "private" });
    expect(splits).to.deep.equal([
      { operation: "stem_split", credit_cost: 8, status: "available" },
      { operation: "vocal_removal", credit_cost: 5, status: "available" },
    ]);
    expect(refusalOf(await owner.get("/tracks/trk_x"))).to.equal("404 track_not_found");
  });

  it("uploads a track for an account, whose quota holds", async () => {
    const small = await test.account({ tier: "free" });
    const path = `/accounts/${small.account.id}/tracks`;
    const parts = [
      { name: "audio", filename: "hum.wav", content: SOUND },
      { name: "title", content: "Hummed melody" },
    ];
    const created = await owner.upload(path, parts, "by mail");
    expect(created.status).to.equal(201);
    const track = dataOf(created);
    expect(track).to.include({ title: "Hummed melody", account: small.account.id, visibility: "private", duration: 1 });
    const mine = dataOf(await small.api.get(`/api/v1/tracks/${String(track["id"])}`));
    const audio = await new ApiClient("", null).get(String(mine["play_url"]));
    expect(Number(audio.headers.get("content-length"))).to.equal(SOUND.length);
    expect(await audited()).to.deep.include({
      action: "library.upload",
      account: small.account.id,
      targets: [track["id"]],
      fields: { bytes: SOUND.length, why: "by mail" },
    });
    expect(errorOf(await owner.upload(path, parts)).message).to.include("allows 1 uploaded tracks");
    expect(issuePaths(await owner.upload(path, parts.slice(1)))).to.deep.equal(["body.audio"]);
    expect(refusalOf(await owner.send("POST", path, {}))).to.equal("415 unsupported_media_type");
    expect(refusalOf(await owner.upload("/accounts/acct_x/tracks", parts))).to.equal("404 not_found");
    // What the account itself uploads is in no log of operators.
    await upload(radio.api, SOUND);
    expect((await audited())?.targets).to.deep.equal([track["id"]]);
  });

  it("shares a track of any account, and closes its page for good", async () => {
    const track = await addTrack(radio);
    const shared = dataOf(await owner.send("POST", `/tracks/${track}/share`, undefined, "press kit"));
    const page = String(shared["share_url"]);
    expect((await new ApiClient("", null).get(page)).status).to.equal(200);
    expect(await audited()).to.deep.include({
      action: "library.share",
      targets: [track],
      fields: { why: "press kit" },
    });
    expect(dataOf(await owner.send("POST", `/tracks/${track}/share`))["share_url"]).to.equal(page);
    expect(dataOf(await owner.delete(`/tracks/${track}/share`))["share_url"]).to.equal(null);
    expect((await new ApiClient("", null).get(page)).status).to.equal(404);
    expect(await audited()).to.deep.include({ action: "library.unshare", account: radio.account.id });
    expect(refusalOf(await owner.send("POST", "/tracks/trk_x/share"))).to.equal("404 track_not_found");
  });

  it("deletes a track of any account for good, unless a job works from it", async () => {
    const held = submitHolds(submitSplits);
    provider.behaviour = held.behaviour;
    const track = await addTrack(radio);
    const { job } = dataOf<Started>(await owner.send("POST", `/tracks/${track}/stems`));
    expect(errorOf(await owner.delete(`/tracks/${track}`)).message).to.equal(
      `The job ${job.id} works from the track ${track}; wait for its end, or cancel it.`,
    );
    held.release();
    await test.app.generations.wait(job.id);
    expect(dataOf(await owner.delete(`/tracks/${track}`, "their request"))).to.deep.equal({ id: track, deleted: true });
    expect(await audited()).to.deep.include({
      action: "library.delete",
      account: radio.account.id,
      targets: [track],
    });
    expect((await audited())?.fields["why"]).to.equal("their request");
    expect(refusalOf(await radio.api.get(`/api/v1/tracks/${track}`))).to.equal("404 track_not_found");
    expect(refusalOf(await owner.delete(`/tracks/${track}`))).to.equal("404 track_not_found");
  });

  it("imports a catalogue without files, all or nothing, and opens no file of the server", async () => {
    const track = { ref: "a", account: radio.account.id, visibility: "private", title: "Wombat", artist_label: "A" };
    const list = { ref: "l", account: null, visibility: "public", title: "Wombats of all", tracks: ["b"] };
    const free = { ...track, ref: "b", account: null, visibility: "public" };
    const created = await owner.send("POST", "/library/imports", { tracks: [track, free], playlists: [list] }, "move");
    expect(created.status).to.equal(201);
    const { tracks, playlists } =
      dataOf<Record<"tracks" | "playlists", readonly { ref: string; id: string }[]>>(created);
    expect([tracks.map(({ ref }) => ref), playlists.map(({ ref }) => ref)]).to.deep.equal([["a", "b"], ["l"]]);
    expect(dataOf(await owner.get(`/tracks/${tracks[0]?.id}`))).to.deep.include({ title: "Wombat", play_url: null });
    expect(dataOf(await owner.get(`/playlists/${playlists[0]?.id}`))).to.include({ account: null, track_count: 1 });
    expect(await audited()).to.deep.include({
      action: "library.import",
      fields: { tracks: 2, playlists: 1, why: "move" },
    });
    for (const audio_file of ["song.mp3", "/etc/passwd", "../config.yaml"]) {
      const refused = await owner.send("POST", "/library/imports", { tracks: [free, { ...track, audio_file }] });
      expect([refusalOf(refused), issuePaths(refused)]).to.deep.equal([
        "400 invalid_request",
        ["body.tracks[1].audio_file"],
      ]);
    }
    expect(issuePaths(await owner.send("POST", "/library/imports", {}))).to.deep.equal(["body"]);
    expect((await audited())?.fields["why"]).to.equal("move");
  });

  it("lets those look who may read, and changes nothing for them", async () => {
    const { token } = dataOf<{ token: string }>(await owner.send("POST", "/tokens", { name: "r", role: "read" }));
    const reader = new AdminClient(url, token);
    const track = await addTrack(radio);
    const path = `/accounts/${radio.account.id}`;
    for (const looked of [`${path}/tracks`, `${path}/playlists`, "/playlists", `/tracks/${track}`])
      expect((await reader.get(looked)).status, looked).to.equal(200);
    const wanted = ["generations", "playlists"].map((what) => `${path}/${what}`);
    for (const refused of [...wanted, `/tracks/${track}/stems`, `/tracks/${track}/share`, "/library/imports"])
      expect(refusalOf(await reader.send("POST", refused, {})), refused).to.equal("403 insufficient_scope");
    expect(refusalOf(await reader.upload(`${path}/tracks`, []))).to.equal("403 insufficient_scope");
    expect(await available(radio)).to.equal(100);
  });
});
