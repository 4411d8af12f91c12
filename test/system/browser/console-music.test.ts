import { expect } from "chai";
import type { Browser } from "playwright-core";
import type { MusicRequest } from "../../../core/ports/music-provider.js";
import { type AdminClient, OWNER_TOKEN, startAdminApp } from "../../api/admin/admin-client.js";
import { dataOf } from "../../support/api-client.js";
import { expectAccessible } from "../../support/accessibility.js";
import { aChord, wavFile } from "../../support/audio-files.js";
import { keepLooks, openBrowser } from "../../support/browser.js";
import { ConsolePage } from "../../support/console-page.js";
import { submitCompletes } from "../../support/doubles/scripted-provider.js";
import { SPLIT_SETTINGS, SplittingProvider, submitSplits } from "../../support/doubles/splitting-provider.js";
import type { TestAccount, TestApp } from "../../support/test-app.js";

const SOUND = wavFile(aChord(1, () => 0.5, { sampleRate: 8_000, channelCount: 1 }));

/** Splits tracks, and works from them too. */
class WorkingProvider extends SplittingProvider {
  protected override define(id: string): ReturnType<SplittingProvider["define"]> {
    const definition = super.define(id);
    const references = { cover: { sources: "any", creditCost: 4, takesStrength: true } } as const;
    return { ...definition, models: definition.models.map((model) => ({ ...model, references })) };
  }
}

interface Track {
  readonly id: string;
  readonly title: string;
  readonly share_url: string | null;
}

describe("Music at the console", function () {
  this.timeout(120_000);
  let test: TestApp;
  let owner: AdminClient;
  let radio: TestAccount;
  let provider: WorkingProvider;
  let browser: Browser;
  let open: ConsolePage;

  before(async () => {
    provider = new WorkingProvider();
    ({ test, owner } = await startAdminApp({ work: true, plugins: [provider.definition], settings: SPLIT_SETTINGS }));
    radio = await test.account({ credits: 100 });
    browser = await openBrowser();
    open = await ConsolePage.open(browser, `${test.url}/console`, OWNER_TOKEN);
  });
  after(async () => {
    await open.close();
    await browser.close();
    await test.close();
  });

  const read = async <T = Record<string, unknown>>(path: string): Promise<T> => dataOf<T>(await owner.get(path));
  const available = async (): Promise<unknown> => (await read(`/accounts/${radio.account.id}/credits`))["available"];
  const audited = async (): Promise<{ action: string; fields: Record<string, unknown> } | undefined> =>
    (await read<{ records: readonly never[] }>("/audit?limit=1")).records[0];
  const music = (): string => `#/accounts/${radio.account.id}/music`;
  const tracks = async (query = ""): Promise<readonly Track[]> =>
    (await read<{ tracks: readonly Track[] }>(`/accounts/${radio.account.id}/tracks?${query}`)).tracks;
  const choose = (name: string, mimeType: string, buffer: Buffer): Promise<void> =>
    open.page.getByRole("dialog").locator("input[type=file]").setInputFiles({ name, mimeType, buffer });
  /** Of the open dialog, on a phone as well. */
  const look = async (name: string): Promise<void> => {
    for (const [width, colorScheme] of [
      [1_280, "light"],
      [390, "dark"],
    ] as const) {
      await open.page.setViewportSize({ width, height: 860 });
      await open.page.emulateMedia({ colorScheme });
      await expectAccessible(open.page, `${name}-${width}`);
      await keepLooks(open.page, `console-${name}-${width}`);
    }
    await open.page.setViewportSize({ width: 1_280, height: 860 });
    await open.page.emulateMedia({ colorScheme: "light" });
  };

  it("create a generation whose price is named, once, although its response was lost", async () => {
    provider.behaviour = submitCompletes;
    await open.goto(music());
    const dialog = await open.openDialog("New generation…");
    expect(await dialog.textContent())
      .to.include("it has 100 credits")
      .and.include("Scripted Song: 10 credits");
    await look("new-generation");
    expect(await open.submit("Spend the credits")).to.include("needed");
    const fields = { Model: "scripted/song", Prompt: "slow waltz, rain", Seconds: "30", Reason: "order 17" };
    const options = { "Options of the model": "seed=42\nstyle_weight = 0.25\nloop=true\nkey=F# minor" };
    expect(await open.submit("Spend the credits", { ...fields, "Options of the model": "seed" })).to.include(
      "name=value",
    );
    const path = `**/admin/v1/accounts/${radio.account.id}/generations`;
    await open.page.route(path, async (route) => {
      await route.fetch();
      await route.abort();
    });
    expect(await open.submit("Spend the credits", { ...fields, ...options })).to.include("cannot be reached");
    expect(await available()).to.equal(90);
    await open.page.unroute(path);
    await dialog.locator(".note.bad").waitFor();
    expect(await open.submit("Spend the credits", { Reason: "order 17 again" })).to.be.a("string");
    await open.page.getByRole("status").filter({ hasText: "Nothing was charged again." }).waitFor();
    await open.page.locator(".title").getByText("Completed").waitFor();
    expect(await available()).to.equal(90);
    expect(provider.submissions).to.have.length(1);
    expect(provider.submissions[0]).to.deep.include({
      options: { seed: 42, style_weight: 0.25, loop: true, key: "F# minor" },
    });
    expect(await audited()).to.deep.include({ action: "generations.create" });
    expect((await audited())?.fields).to.include({ why: "order 17", credits: 10 });
  });

  it("upload a track, and find it", async () => {
    await open.goto(music());
    await open.openDialog("Upload…");
    expect(await open.submit("Upload")).to.include("needed");
    await choose("hum.txt", "text/plain", Buffer.from("no music at all"));
    expect(await open.submit("Upload")).to.include("must be audio");
    await choose("hum.wav", "audio/wav", Buffer.from(SOUND));
    expect(await open.submit("Upload", { Title: "Hummed melody", Reason: "by mail" })).to.equal(
      "Hummed melody is uploaded.",
    );
    expect((await tracks("q=hummed")).map(({ title }) => title)).to.deep.equal(["Hummed melody"]);
    expect((await audited())?.fields).to.include({ why: "by mail", bytes: SOUND.length });
    await open.page.getByLabel("Find").fill("hummed");
    await open.page.keyboard.press("Enter");
    await open.page.waitForURL(/\?q=hummed$/);
    await open.page.getByRole("link", { name: "Hummed melody" }).click();
    await open.page.getByRole("heading", { name: "Hummed melody" }).waitFor();
  });

  it("share a track, and stop sharing it", async () => {
    const [track] = await tracks("q=hummed");
    await open.goto(`#/music/${track?.id}`);
    await open.openDialog("Share…");
    expect(await open.submit("Open the page", { Reason: "press kit" })).to.equal("Hummed melody has a public page.");
    const page = (await open.page.getByRole("link", { name: "open" }).getAttribute("href")) ?? "";
    expect([(await fetch(page)).status, (await tracks("q=hummed"))[0]?.share_url]).to.deep.equal([200, page]);
    expect((await audited())?.fields).to.deep.equal({ why: "press kit" });
    const dialog = await open.openDialog("Stop sharing…");
    expect(await dialog.textContent()).to.include("for good");
    await open.submit("Close the page");
    await open.button("Share…").waitFor();
    expect((await fetch(page)).status).to.equal(404);
  });

  it("split a track for credits that are named, once under one reference", async () => {
    provider.behaviour = submitSplits;
    const before = Number(await available());
    const [track] = await tracks("q=hummed");
    for (const [time, said] of [
      [1, "The job is accepted."],
      [2, "It was started before: this is that job. Nothing was charged again."],
    ] as const) {
      await open.goto(`#/music/${track?.id}`);
      const dialog = await open.openDialog("Split…");
      expect(await dialog.textContent()).to.include("The account is charged 8 credits");
      if (time === 1) await look("split");
      expect(await open.submit("Spend 8 credits", { Reference: "order 17", Reason: "their order" })).to.equal(said);
      await open.page.locator(".title").getByText("Completed").waitFor();
      expect(await available()).to.equal(before - 8);
    }
    expect((await audited())?.fields).to.include({ kind: "stem_split", why: "their order", credits: 8 });
    await open.goto(`#/music/${track?.id}`);
    await open.openDialog("Remove vocals…");
    await open.submit("Spend 5 credits");
    await open.page.locator(".title").getByText("Completed").waitFor();
    expect(await available()).to.equal(before - 13);
  });

  it("create a generation from a track, at the price of what is done with it", async () => {
    provider.behaviour = submitCompletes;
    const before = Number(await available());
    const [track] = await tracks("q=hummed");
    await open.goto(`#/music/${track?.id}`);
    const dialog = await open.openDialog("Work from it…");
    expect(await dialog.textContent()).to.include("Scripted Song, another version: 4 credits");
    const said = await open.submit("Spend the credits", { Prompt: "for brass", Strength: "0.5" });
    expect(said).to.equal("The job is accepted; 4 credits are reserved.");
    await open.page.locator(".title").getByText("Completed").waitFor();
    expect(await available()).to.equal(before - 4);
    const { reference } = provider.submissions.at(-1) as MusicRequest;
    expect(reference).to.include({ mode: "cover", strength: 0.5 });
  });

  it("create, edit and delete a playlist of an account", async () => {
    const [one, two] = await tracks();
    await open.goto(music());
    await open.openDialog("New playlist…");
    const ids = `${one?.id}\n${two?.id}`;
    const fields = { Title: "Mornings", Visibility: "public", Tracks: ids, Reason: "spring" };
    expect(await open.submit("Create", fields)).to.equal("Mornings is created.");
    await open.page.getByRole("heading", { name: "Mornings" }).waitFor();
    const path = `/playlists/${open.page.url().split("/").at(-1)}`;
    const held = async (): Promise<string[]> =>
      (await read<{ tracks: readonly Track[] }>(path)).tracks.map(({ id }) => id);
    expect(await held()).to.deep.equal([one?.id, two?.id]);
    expect(await read(path)).to.include({ visibility: "public", account: radio.account.id });
    await open.openDialog("Edit…");
    await open.submit("Save", { Title: "Evenings", Visibility: "private" });
    await open.page.getByRole("heading", { name: "Evenings" }).waitFor();
    expect(await read(path)).to.include({ title: "Evenings", visibility: "private" });
    await open.openDialog("Move…", 1);
    await open.submit("Move", { Place: "1" });
    expect(await held()).to.deep.equal([two?.id, one?.id]);
    // The list is shown in its new order a moment after the message.
    await open.page.reload();
    await open.page.getByRole("heading", { name: "Evenings" }).waitFor();
    await open.openDialog("Remove…");
    await open.submit("Remove");
    expect(await held()).to.deep.equal([one?.id]);
    await open.openDialog("Add tracks…");
    expect(await open.submit("Add", { Tracks: "trk_x" })).to.include("trk_x");
    expect(await open.submit("Add", { Tracks: two?.id ?? "" })).to.equal("Evenings has 2 tracks.");
    expect(await held()).to.deep.equal([one?.id, two?.id]);
    const dialog = await open.openDialog("Delete…");
    expect(await dialog.textContent()).to.include("for good");
    expect(await open.submit("Delete", { Reason: "winter" })).to.equal("Evenings is deleted.");
    await open.page.getByRole("heading", { name: "Playlists" }).waitFor();
    expect((await owner.get(path)).status).to.equal(404);
    expect(await audited()).to.deep.include({ action: "playlists.delete" });
    expect((await audited())?.fields).to.include({ why: "winter" });
    expect((await owner.get(`/tracks/${one?.id}`)).status).to.equal(200);
  });

  it("keep public playlists of no account, import a catalogue, and open a track by its id", async () => {
    await open.goto("#/music");
    await open.openDialog("New playlist…");
    expect(await open.submit("Create", { Title: "House favourites" })).to.equal("House favourites is created.");
    await open.goto("#/music");
    await open.page.getByRole("link", { name: "House favourites" }).waitFor();
    const track = { ref: "a", account: null, visibility: "public", title: "Imported", artist_label: "Someone" };
    const list = { ref: "l", account: null, visibility: "public", title: "Of elsewhere", tracks: ["a"] };
    const catalogue = { tracks: [{ ...track, audio_file: "a.mp3" }], playlists: [list] };
    await open.openDialog("Import…");
    await choose("x.json", "application/json", Buffer.from("{"));
    expect(await open.submit("Import")).to.include("x.json is not JSON");
    await choose("x.json", "application/json", Buffer.from(JSON.stringify(catalogue)));
    expect(await open.submit("Import")).to.include("body.tracks[0].audio_file");
    await choose("x.json", "application/json", Buffer.from(JSON.stringify({ ...catalogue, tracks: [track] })));
    expect(await open.submit("Import", { Reason: "the move" })).to.equal("Imported 1 track and 1 playlist.");
    await open.page.getByRole("link", { name: "Of elsewhere" }).click();
    await open.page.getByRole("link", { name: "Imported" }).click();
    await open.page.getByRole("heading", { name: "Imported" }).waitFor();
    expect((await audited())?.fields).to.include({ why: "the move", tracks: 1 });
    const id = open.page.url().split("/").at(-1) ?? "";
    await open.goto("#/music");
    await open.page.getByLabel("Open").fill(id);
    await open.page.keyboard.press("Enter");
    await open.page.getByRole("heading", { name: "Imported" }).waitFor();
  });

  it("show to those who may only read no button that changes anything", async () => {
    const { token } = dataOf<{ token: string }>(await owner.send("POST", "/tokens", { name: "night", role: "read" }));
    const reader = await ConsolePage.open(browser, `${test.url}/console`, token);
    try {
      for (const hash of [music(), "#/music", `#/music/${(await tracks())[0]?.id}`]) {
        await reader.goto(hash);
        expect(await reader.page.getByRole("button").filter({ hasText: "…" }).count(), hash).to.equal(0);
      }
    } finally {
      await reader.close();
    }
  });
});
