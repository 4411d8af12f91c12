import { mkdir, mkdtemp, realpath, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { FermataProcess } from "../../support/process.js";
import { SILENCE_WAV } from "../../support/library-fixture.js";

const PACKAGE = "fermata-nightingale";

/** As its author publishes it: plain JavaScript without any part of Fermata. */
const PLUGIN = `
const words = { supportsLyrics: false, supportsInstrumental: true };
const model = { id: "nightingale/v1", name: "Nightingale", creditCost: 4, ...words, duration: null };
const tags = { mood: ["calm"], activity: [], genre: [], other: [] };
const bytes = Buffer.from("${Buffer.from(SILENCE_WAV).toString("base64")}", "base64");
const mix = { role: "mix", label: "full", contentType: null, durationSeconds: null, source: { kind: "bytes", bytes } };
export default {
  id: "nightingale", label: "Nightingale", portVersion: 2, concurrency: 1, settings: {}, models: [model],
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
  create: () => ({
    submit: async ({ model: { creditCost } }) => {
      const track = { title: "For " + creditCost, bpm: null, tags, assets: [mix] };
      return { state: "completed", tracks: [track] };
    },
  }),
};
`;

describe("A plugin in a package of its own", function () {
  this.timeout(60_000);
  let folder: string;
  let running: FermataProcess | undefined;
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "fermata-package-")));
    const place = join(folder, "node_modules", PACKAGE);
    await mkdir(place, { recursive: true });
    await writeFile(
      join(place, "package.json"),
      JSON.stringify({ name: PACKAGE, version: "1.0.0", type: "module", exports: "./index.js" }),
    );
    await writeFile(join(place, "index.js"), PLUGIN);
  });
  after(async () => {
    await running?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  it("is loaded by its name, with models changed by settings, and generates music", async () => {
    const env = {
      FERMATA_DATA_DIR: join(folder, "data"),
      FERMATA_HTTP__PORT: "0",
      FERMATA_PLUGINS__SYNTH__ENABLED: "false",
      FERMATA_PLUGINS__NIGHTINGALE__ENABLED: "true",
      FERMATA_PLUGINS__NIGHTINGALE__USE: PACKAGE,
      FERMATA_PLUGINS__NIGHTINGALE__MODELS: '[{ "id": "nightingale/v1", "creditCost": 7 }]',
    };
    running = new FermataProcess(["start", "--json"], env, folder);
    const [, url = "", keyFile = ""] = await running.line(/"url": "([^"]+)"[\s\S]*"key_file": "([^"]+)"/);
    const api = new ApiClient(url, (await readFile(keyFile, "utf8")).trim());
    const { id } = dataOf<{ id: string }>(
      await api.generate({ model_id: "nightingale/v1", prompt: "dawn" }, { Prefer: "wait=30" }),
    );
    const job = dataOf<{ status: string; provider: string; operation: string; credits_charged: number }>(
      await api.get(`/api/v1/jobs/${id}`),
    );
    expect(job).to.include({
      status: "completed",
      provider: "nightingale",
      operation: "music_nightingale_full",
      credits_charged: 7,
    });
    const { tracks } = dataOf<{
      tracks: { title: string; artist_label: string; play_url: string; duration: number; preview_audio_url: string }[];
    }>(await api.get(`/api/v1/generations/${id}`));
    expect(tracks[0]).to.include({ title: "For 7", artist_label: "Nightingale", duration: 0.5 });
    expect(new Uint8Array(await (await fetch(tracks[0]?.play_url ?? "")).arrayBuffer())).to.deep.equal(
      new Uint8Array(SILENCE_WAV),
    );
  });
});
