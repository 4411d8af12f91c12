import { readFileSync } from "node:fs";
import { expect } from "chai";
import { loadSettings } from "../../config/load.js";
import { loadPlugins } from "../../config/plugins.js";
import { accepts, API_KEY, bodyOf, done, running, says, store, SUBMIT } from "../plugins/ace-step-support.js";
import { dataOf } from "../support/api-client.js";
import { FakeApi, tinyMp3 } from "../support/provider-kit/index.js";
import { repositoryPath } from "../support/repository.js";
import { UNHEARD } from "../support/shelf.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const [, SECTION = ""] =
  /\n### Real AI on your own GPU\n([^]*?)\n### /.exec(readFileSync(repositoryPath("README.md"), "utf8")) ?? [];

/** What the commands of a kind of block say. */
const blocks = (kind: string): string[] =>
  [...SECTION.matchAll(new RegExp(`\`\`\`${kind}\n([^]*?)\`\`\``, "g"))].map(([, text = ""]) => text);

interface Song {
  readonly id: string;
  readonly status: string;
  readonly credits_charged: number;
  readonly tracks: readonly { readonly title: string; readonly play_url: string }[];
}

describe("The README's first song on one's own GPU", () => {
  let server: FakeApi;
  let test: TestApp | null;
  beforeEach(async () => {
    server = await FakeApi.open();
    test = null;
  });
  afterEach(async () => {
    await test?.close();
    await server.close();
  });

  it("asks for no more than five commands, and shows settings that lead to the server they start", async () => {
    const commands = blocks("sh").slice(0, 3).join("").replaceAll(/\\\n|\n +|\n {2}}/g, " ").trim().split("\n");
    // The server loads its models at once: no job waits for them later.
    const expected = ["git", "ACESTEP_NO_INIT=false", "npm", "export", "curl"];
    expect(commands.map((line) => line.split(" ")[0])).to.deep.equal(expected);
    const given = [...SECTION.matchAll(/(FERMATA_PLUGINS\w+)=(\S+)/g)];
    const env = Object.fromEntries(given.map(([, name = "", value = ""]) => [name, value] as const));
    const [yaml = ""] = blocks("yaml");
    for (const settings of [
      loadSettings({ env, cwd: "/", isTerminal: false }),
      loadSettings({ env: { FERMATA_CONFIG: "a.yaml" }, cwd: "/", readFile: () => yaml, isTerminal: false }),
    ]) {
      const plugin = (await loadPlugins(settings)).find(({ definition: { id } }) => id === "ace-step");
      // Where `acestep-api` listens unless told otherwise.
      expect([plugin?.enabled, plugin?.settings["baseUrl"]]).to.deep.equal([true, "http://127.0.0.1:8001"]);
    }
  });

  /** The app in front of the server, and the request that the README shows. */
  async function begin(settings: object = {}): Promise<Song> {
    const ours = { enabled: true, baseUrl: server.url, apiKey: API_KEY };
    test = await startTestApp({ ...UNHEARD, work: true, settings: { plugins: { "ace-step": ours }, ...settings } });
    const { api } = await test.account();
    const [, body = ""] = /-d '([^']*)'/.exec(SECTION) ?? [];
    const { id } = dataOf<Song>(await api.generate(JSON.parse(body) as object, { Prefer: "wait=30" }));
    return dataOf<Song>(await api.get(`/api/v1/generations/${id}`));
  }

  it("is made by the request that it shows, and played from this installation", async () => {
    const song = tinyMp3("the first song");
    await accepts(server);
    const [file = ""] = store(server, [song], "audio/mpeg");
    await says(0, [running(0.6)])(server);
    const received = server.received(SUBMIT).then(() => says(1, [done(file)])(server));
    const made = await begin();
    await received;
    expect([made.status, made.tracks.length]).to.deep.equal(["completed", 1]);
    expect(bodyOf(server.calls(SUBMIT)[0])).to.include({ audio_duration: 60, batch_size: 1 });
    const played = await fetch(made.tracks[0]?.play_url ?? "");
    expect(Buffer.from(await played.arrayBuffer()).equals(song)).to.equal(true);
  });

  it("fails, and costs nothing, when the operator has deleted its file", async () => {
    await accepts(server);
    store(server, []);
    await says(1, [done("/v1/audio?path=%2Fdeleted.flac")])(server);
    const song = await begin({ jobs: { maxAttempts: 1, backoffMs: 0, confirmSeconds: 0 } });
    expect([song.status, song.credits_charged]).to.deep.equal(["failed", 0]);
  });
});
