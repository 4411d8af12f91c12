import { expect } from "chai";
import type { Completed, MusicProvider, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/beatoven/index.js";
import { type ExpectedTracks, musicProviderContract, type Script } from "../contract/music-provider.contract.js";
import {
  aMusicRequest,
  FakeApi,
  htmlPage,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
} from "../support/provider-kit/index.js";

const COMPOSE = { method: "POST", path: "/api/v1/tracks/compose" } as const;
const TASK = { method: "GET", path: "/api/v1/tasks/:id" } as const;
const API_KEY = "token-of-beatoven";
const STEMS = ["bass", "chords", "melody", "percussion"];

let created = 0;
const accepts: Script = (fake) =>
  void fake.on(COMPOSE.method, COMPOSE.path, () => json({ status: "started", task_id: `ccb8-${(created += 1)}_1` }));
const task =
  (body: object): Script =>
  (fake) =>
    void fake.on(TASK.method, TASK.path, json(body));
const answered =
  (status: number): Script =>
  (fake) =>
    void fake.on(TASK.method, TASK.path, json({ error: "no", detail: "why" }, { status }));
const refused =
  (status: number): Script =>
  (fake) =>
    void fake.on(COMPOSE.method, COMPOSE.path, json({ error: "no", detail: "why" }, { status }));

function succeeds(fake: FakeApi): ExpectedTracks {
  const mix = tinyMp3("whole");
  const stems = STEMS.map((name) => [name, fake.file(tinyMp3(name))]);
  const meta = {
    project_id: "p1",
    track_id: "ccb8",
    prompt: { text: "warm acoustic morning" },
    version: 1,
    track_url: fake.file(mix),
    stems_url: Object.fromEntries(stems) as object,
  };
  void task({ status: "composed", meta })(fake);
  return { mixes: [mix], tracks: [{ title: null, bpm: null, mixSeconds: null }] };
}

const nothing = (why: string): { readonly notApplicable: string } => ({ notApplicable: why });

musicProviderContract("beatoven", {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  generation: {
    submit: COMPOSE,
    completes: async (fake) => {
      await accepts(fake);
      const expected = succeeds(fake);
      fake.once(TASK.method, TASK.path, ...["started", "composing", "running"].map((status) => json({ status })));
      return expected;
    },
    severalTracks: nothing("a task composes one track"),
  },
  work: {
    status: TASK,
    accepts,
    running: task({ status: "running" }),
    succeeds,
    fails: [task({ status: "failed" }), task({ status: "failed", meta: {}, error: "no composition", detail: "why" })],
    rejectsContent: nothing("how moderation answers is not documented"),
    cancelled: nothing("nothing can be cancelled there"),
    timesOut: nothing("it has no such status"),
    gone: answered(404),
    expiredLink: nothing("a link that died answers the download, not the poll"),
    succeedsEmpty: task({ status: "composed", meta: { track_url: "", stems_url: {} } }),
    partlyReady: nothing("there is one track"),
    others: {
      "a status that is not known": { kind: "unavailable", script: task({ status: "mixing" }) },
      "an error of the server": { kind: "unavailable", script: answered(500) },
      "a question that it does not take": { kind: "unavailable", script: answered(400) },
      "a key that is no longer good": { kind: "misconfigured", script: answered(401) },
      "a gateway's page of status 404": {
        kind: "unavailable",
        script: (fake) => void fake.on(TASK.method, TASK.path, htmlPage(404)),
      },
    },
  },
  refusals: {
    content: nothing("how moderation answers is not documented"),
    rateLimit: (fake) => void fake.on(COMPOSE.method, COMPOSE.path, json({}, { status: 429 })),
    key: refused(401),
    credit: nothing("how an account without credit is answered is not documented"),
    unavailable: (fake) => void fake.on(COMPOSE.method, COMPOSE.path, htmlPage(503)),
    input: refused(400),
    errorWith200: nothing("errors have a status of their own"),
    others: {
      "a path that is not there": { kind: "model_unavailable", script: refused(404) },
      "an error of the server": { kind: "outcome_unknown", script: refused(500) },
    },
  },
  idempotency: nothing("there is no key of idempotency"),
  callbacks: nothing("it has no callbacks"),
  lookup: nothing("tasks are found by their id alone"),
  cancel: nothing("nothing can be cancelled there"),
  probe: nothing("no call tells of the account"),
  stemSplit: nothing("stems come with a track of its own, and of no other"),
  vocalRemoval: nothing("its tracks have no voices"),
});

describe("beatoven", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    fake.on(COMPOSE.method, COMPOSE.path, json({ status: "started", task_id: "ccb8_1" }));
  });
  afterEach(() => fake.close());

  const { signal } = new AbortController();
  const open = (settings: Record<string, string | number> = {}): MusicProvider =>
    definition.create(
      providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: `${fake.url}/`, ...settings }) }),
    );
  const model = (parts: Partial<ProviderModel> = {}): ProviderModel => ({
    ...(definition.models[0] as ProviderModel),
    ...parts,
  });
  const handle = { version: 1, data: { taskId: "ccb8_1" } };

  it("sends the prompt, the format and the key", async () => {
    const outcome = await open({ pollMs: 7_000 }).submit(aMusicRequest(model(), { prompt: "warm acoustic morning" }), {
      signal,
    });
    expect(outcome).to.deep.equal({ state: "accepted", handle, nextPollMs: 7_000 });
    const [request] = fake.calls(COMPOSE);
    expect(request?.json).to.deep.equal({ prompt: { text: "warm acoustic morning" }, format: "mp3", looping: false });
    expect(request?.headers).to.include({ authorization: `Bearer ${API_KEY}`, "content-type": "application/json" });
  });

  it("says the length in words, and sends the model's options", async () => {
    const of = model({
      duration: { minSeconds: 10, maxSeconds: 90, defaultSeconds: 30 },
      options: { format: "wav", looping: true },
    });
    await open().submit(aMusicRequest(of, { prompt: "warm acoustic morning", durationSeconds: 45 }), { signal });
    expect(fake.calls(COMPOSE)[0]?.json).to.deep.equal({
      prompt: { text: "45 seconds warm acoustic morning" },
      format: "wav",
      looping: true,
    });
  });

  it("delivers the stems that there are with the track", async () => {
    succeeds(fake);
    const whole = (await open().poll?.(handle, { signal })) as Completed;
    expect(fake.calls(TASK)[0]?.params).to.deep.equal({ id: "ccb8_1" });
    expect(whole.tracks[0]?.assets.map(({ role, label }) => `${role} ${label}`)).to.deep.equal([
      "mix full",
      ...STEMS.map((name) => `stem ${name}`),
    ]);
    const meta = {
      track_url: fake.file(tinyMp3("whole")),
      stems_url: { bass: fake.file(tinyMp3("bass")), chords: null, melody: "" },
    };
    await task({ status: "composed", meta })(fake);
    const part = (await open().poll?.(handle, { signal })) as Completed;
    expect(part.tracks[0]?.assets.map(({ label }) => label)).to.deep.equal(["full", "bass"]);
  });

  it("repeats what it said of an error", async () => {
    await refused(400)(fake);
    const error = await open()
      .submit(aMusicRequest(model()), { signal })
      .then(
        () => null,
        (reason: unknown) => reason,
      );
    expect(error).to.include({ kind: "invalid_input", message: "400: no: why", billable: "no" });
  });

  it("names what is wrong with a model of the operator's", () => {
    expect(definition.checkModel?.(model({ options: { format: "wav", looping: true } }))).to.equal(null);
    expect(definition.checkModel?.(model({ options: { format: "aac" } }))).to.equal(
      "has another options.format than wav, mp3",
    );
    expect(definition.checkModel?.(model({ options: { looping: "yes" } }))).to.match(/^has options.looping/);
    expect(definition.checkModel?.(model({ options: { seed: 1 } }))).to.equal(
      "has options.seed; allowed: format, looping",
    );
    expect(definition.checkModel?.(model({ supportsLyrics: true }))).to.match(/^has `supportsLyrics`/);
  });
});
