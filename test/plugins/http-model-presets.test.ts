import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parse } from "yaml";
import { loadSettings } from "../../config/load.js";
import { loadPlugins } from "../../config/plugins.js";
import type { OptionValues, ProviderHost, ProviderModel } from "../../core/ports/music-provider.js";
import { withDefaults } from "../../core/providers/request-options.js";
import definition from "../../plugins/http-model/index.js";
import { type MusicProviderHarness, musicProviderContract, type Script } from "../contract/music-provider.contract.js";
import {
  aMusicRequest,
  bytes,
  FakeApi,
  type FakeResponse,
  type FakeRequest,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
  tinyWav,
} from "../support/provider-kit/index.js";
import { repositoryPath } from "../support/repository.js";

const README = readFileSync(repositoryPath("plugins/http-model/README.md"), "utf8");

interface Preset {
  readonly own: ProviderHost["settings"];
  readonly models: readonly ProviderModel[];
}

/** The settings file below a heading of the README. */
function presetOf(heading: string): Preset {
  const [, yaml = ""] = /```yaml\n([^]*?)```/.exec(README.slice(README.indexOf(`\n### ${heading}\n`))) ?? [];
  const file = parse(yaml) as { readonly plugins: { readonly "http-model": Record<string, unknown> } };
  const { enabled: _, models, ...own } = file.plugins["http-model"];
  return { own: own as ProviderHost["settings"], models: models as readonly ProviderModel[] };
}

type Body = Readonly<Record<string, unknown>>;

/** A server that answers the music, and how it says no. */
interface Server {
  readonly heading: string;
  readonly path: string;
  readonly mix: Uint8Array;
  readonly response: (body: Body) => FakeResponse;
  readonly errorOf: (status: number) => unknown;
  /** What a caller chooses of a song, and the members of a body that are options, by their names here. */
  readonly options: OptionValues;
  readonly optionsIn: (body: Body) => Body;
  /** What it is sent for a song of 95 seconds with these options. */
  readonly song: Body;
  readonly instrumental: Body;
}

const [PROMPT, LYRICS] = ["warm folk", "[Verse]\nRain"];

const detail = (text: string): object => ({ detail: text });
const error = (status: number): object => ({ error: { code: status, message: "no", type: "" } });

const SERVERS: readonly Server[] = [
  {
    heading: "LocalAI",
    path: "/v1/sound-generation",
    mix: tinyWav(330),
    // A `text` would be answered by words and music of another song.
    response: ({ model_id: model, text }) => {
      if (model !== "ace-step-turbo") return json(error(400), { status: 400 });
      return bytes(text === undefined ? tinyWav(330) : tinyMp3("another"), "audio/flac");
    },
    errorOf: error,
    options: { bpm: 92, key: "D minor" },
    optionsIn: ({ bpm, keyscale: key, language }) => ({ bpm, key, language }),
    song: {
      model_id: "ace-step-turbo",
      caption: PROMPT,
      lyrics: LYRICS,
      duration_seconds: 95,
      instrumental: false,
      bpm: 92,
      keyscale: "D minor",
      language: "en",
    },
    instrumental: {
      model_id: "ace-step-turbo",
      caption: PROMPT,
      duration_seconds: 95,
      instrumental: true,
      language: "en",
    },
  },
  {
    heading: "The chat route of ACE-Step",
    path: "/v1/chat/completions",
    mix: tinyMp3("one"),
    // What has no tag may be taken for lyrics.
    response: ({ messages }) => {
      const [{ content }] = messages as [{ readonly content: string }];
      const song = /^<prompt>.*<\/prompt>$/s.test(content) ? "one" : "of lyrics";
      const url = `data:audio/mpeg;base64,${Buffer.from(tinyMp3(song)).toString("base64")}`;
      const message = { role: "assistant", content: "## Metadata", audio: [{ type: "audio_url", audio_url: { url } }] };
      return json({ id: "chatcmpl-1", choices: [{ index: 0, message, finish_reason: "stop" }] });
    },
    errorOf: (status) => detail(status === 500 ? "Traceback (most recent call last): …" : "no"),
    options: { seed: 7, bpm: 92, key: "D minor", language: "de" },
    optionsIn: ({ seed, audio_config: config }) => {
      const { bpm, key_scale: key, vocal_language: language } = config as Body;
      return { seed, bpm, key, language };
    },
    song: {
      model: "acestep/acestep-v15-turbo",
      messages: [{ role: "user", content: `<prompt>${PROMPT}</prompt>` }],
      lyrics: LYRICS,
      audio_config: {
        duration: 95,
        format: "mp3",
        bpm: 92,
        key_scale: "D minor",
        vocal_language: "de",
        instrumental: false,
      },
      seed: 7,
      batch_size: 1,
      stream: false,
    },
    instrumental: {
      model: "acestep/acestep-v15-turbo",
      messages: [{ role: "user", content: `<prompt>${PROMPT}</prompt>` }],
      audio_config: { duration: 95, format: "mp3", instrumental: true },
      batch_size: 1,
      stream: false,
    },
  },
  {
    heading: "audio.cpp",
    path: "/v1/tasks/run",
    mix: tinyWav(220),
    response: () => {
      const audio = Buffer.from(tinyWav(220)).toString("base64");
      return json({ text: "", audio, sample_rate: 48_000, channels: 2, timing: { wall_ms: 9_000.5 } });
    },
    errorOf: (status) => ({ error: { message: "no", type: status === 503 ? "server_busy" : "invalid_request" } }),
    options: { seed: 7 },
    optionsIn: ({ request }) => {
      const { seed, language } = request as Body;
      return { seed, language };
    },
    song: {
      model: "ace-step",
      request: { text: PROMPT, lyrics: LYRICS, duration_seconds: 95, seed: 7, language: "en" },
    },
    instrumental: { model: "ace-step", request: { text: PROMPT, duration_seconds: 95, language: "en" } },
  },
];

const MISSING = { notApplicable: "the server has no such thing" } as const;

function harnessOf({ heading, path, mix, response: result, errorOf, optionsIn }: Server): MusicProviderHarness {
  const { own, models } = presetOf(heading);
  const refused =
    (status: number, headers: Record<string, string> = {}): Script =>
    (fake) =>
      void fake.on("POST", path, json(errorOf(status), { status, headers }));
  return {
    definition,
    models,
    settings: (fake) => ({ ...own, baseUrl: fake.url, apiKey: "key-of-the-server" }),
    options: {
      sent: (requests) => optionsIn(requests.find((request) => request.path === path)?.json as Body),
    },
    generation: {
      submit: { method: "POST", path },
      completes: (fake) => {
        fake.on("POST", path, ({ json: body }: FakeRequest) => result(body as Body));
        return { mixes: [mix] };
      },
      severalTracks: { notApplicable: "it is asked for one" },
    },
    work: { notApplicable: "the call lasts as long as the work" },
    refusals: {
      content: MISSING,
      rateLimit: { script: refused(429, { "retry-after": "3" }), retryAfterMs: 3_000 },
      key: refused(401),
      credit: MISSING,
      unavailable: refused(503),
      input: refused(400),
      errorWith200: MISSING,
      others: {
        "an error of the server": { kind: "outcome_unknown", script: refused(500) },
        "a wait that was too long": { kind: "outcome_unknown", script: refused(504) },
      },
    },
    idempotency: MISSING,
    callbacks: MISSING,
    lookup: MISSING,
    cancel: MISSING,
    probe: MISSING,
    stemSplit: MISSING,
    vocalRemoval: MISSING,
  };
}

describe("http-model and the settings files of its README", () => {
  it("loads all of them", async () => {
    const files = [...README.matchAll(/```yaml\n([^]*?)```/g)].map(([, yaml = ""]) => yaml);
    expect(files).to.have.lengthOf(3 + SERVERS.length);
    for (const yaml of files) {
      const env = { FERMATA_CONFIG: "fermata.yaml" };
      const loaded = await loadPlugins(loadSettings({ env, cwd: "/", readFile: () => yaml, isTerminal: false }));
      expect(loaded.map(({ definition: { id }, enabled }) => [id, enabled])).to.deep.include(["http-model", true]);
    }
  });
});

for (const server of SERVERS) {
  const { heading, path, response: received, options, song, instrumental } = server;
  musicProviderContract(`http-model, the mapping of its README: ${heading}`, harnessOf(server));

  describe(`http-model, the mapping of its README: ${heading}`, () => {
    const { own, models } = presetOf(heading);

    it("sends what that server takes, for a song and for an instrumental", async () => {
      const fake = await FakeApi.open();
      try {
        fake.on("POST", path, ({ json: body }) => received(body as Body));
        const settings = settingsOf(definition, { ...own, baseUrl: fake.url, apiKey: "key-of-the-server" });
        const provider = definition.create(providerHost({ settings, models }));
        const [model] = models;
        if (model === undefined) throw new Error("there is no model");
        const common = { prompt: PROMPT, durationSeconds: 95 };
        const { signal } = new AbortController();
        const [chosen, defaults] = [withDefaults(model, options), withDefaults(model, {})];
        for (const parts of [
          { lyrics: LYRICS, instrumental: false, options: chosen },
          { lyrics: null, instrumental: true, options: defaults },
        ])
          await provider.submit(aMusicRequest(model, { ...common, ...parts }), { signal });
        expect(fake.requests.map((request) => request.json)).to.deep.equal([song, instrumental]);
      } finally {
        await fake.close();
      }
    });
  });
}
