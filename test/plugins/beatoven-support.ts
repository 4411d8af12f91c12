import definition from "../../plugins/beatoven/index.js";
import type { ExpectedTracks, MusicProviderHarness, Script } from "../contract/music-provider.contract.js";
import { type FakeApi, htmlPage, json, tinyMp3 } from "../support/provider-kit/index.js";

export const COMPOSE = { method: "POST", path: "/api/v1/tracks/compose" } as const;
export const TASK = { method: "GET", path: "/api/v1/tasks/:id" } as const;
export const API_KEY = "token-of-beatoven";
export const STEMS = ["bass", "chords", "melody", "percussion"];

let created = 0;
const accepts: Script = (fake) =>
  void fake.on(COMPOSE.method, COMPOSE.path, () => json({ status: "started", task_id: `ccb8-${(created += 1)}_1` }));
export const task =
  (body: object): Script =>
  (fake) =>
    void fake.on(TASK.method, TASK.path, json(body));
const answered =
  (status: number): Script =>
  (fake) =>
    void fake.on(TASK.method, TASK.path, json({ error: "no", detail: "why" }, { status }));
export const refused =
  (status: number): Script =>
  (fake) =>
    void fake.on(COMPOSE.method, COMPOSE.path, json({ error: "no", detail: "why" }, { status }));

export function succeeds(fake: FakeApi): ExpectedTracks {
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
  const otherFiles = STEMS.map((label) => ({ role: "stem", label, bytes: tinyMp3(label) }) as const);
  return { mixes: [mix], tracks: [{ title: null, bpm: null, mixSeconds: null, otherFiles }] };
}

const nothing = (why: string): { readonly notApplicable: string } => ({ notApplicable: why });

export const beatoven: MusicProviderHarness = {
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
};
