import definition from "../../plugins/loudly/index.js";
import type { ExpectedTracks, MusicProviderHarness, Script } from "../contract/music-provider.contract.js";
import { type FakeApi, htmlPage, json, tinyMp3 } from "../support/provider-kit/index.js";

export const SONGS = { method: "POST", path: "/b2b/ai/prompt/songs" } as const;
export const LIMITS = { method: "GET", path: "/b2b/account/limits" } as const;
export const API_KEY = "key-of-loudly";

const refused = (status: number, error = "bad_request", description = "why"): Script => {
  return (fake) => void fake.on(SONGS.method, SONGS.path, json({ error, error_description: description }, { status }));
};

const aSong = (fake: FakeApi, mix: Uint8Array): object => ({
  id: "9",
  title: "Night Run",
  duration: 60.2,
  bpm: 174,
  key: { id: 1, name: "A minor", active: true },
  music_file_path: fake.file(mix),
  wave_form_file_path: `${fake.url}/wave.json`,
  xml_file_path: `${fake.url}/song.xml`,
  created_at: "2026-08-01T10:00:00Z",
});

export const completes: Script<ExpectedTracks> = (fake) => {
  const mix = tinyMp3("song");
  fake.on(SONGS.method, SONGS.path, json(aSong(fake, mix)));
  return { mixes: [mix], tracks: [{ title: "Night Run", bpm: 174, mixSeconds: 60.2 }] };
};

export const limits = (left: number, type = "ai_song"): object[] => [
  { request_type: "catalog_song", limit: 10, used: 10, left: 0 },
  { request_type: type, limit: 100, used: 100 - left, left },
];

const nothing = (why: string): { readonly notApplicable: string } => ({ notApplicable: why });

export const loudly: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  generation: { submit: SONGS, completes, severalTracks: nothing("a call makes one song") },
  work: nothing("the call lasts as long as the work"),
  refusals: {
    content: nothing("how moderation answers is not documented"),
    rateLimit: refused(500, "internal_error", "Rate limit exceeded"),
    key: refused(401),
    credit: nothing("how an account without credit is answered is not documented"),
    unavailable: (fake) => void fake.on(SONGS.method, SONGS.path, htmlPage(503)),
    input: refused(400, "invalid_genre"),
    errorWith200: nothing("errors have a status of their own"),
    others: {
      "too many requests, said in the error": { kind: "rate_limited", script: refused(500, "rate_limit_exceeded", "") },
      "too many requests, by the status": { kind: "rate_limited", script: refused(429) },
      "an error of the server": { kind: "outcome_unknown", script: refused(500, "internal_error", "something broke") },
      "a path that is not there": { kind: "model_unavailable", script: refused(404) },
      "a song without a file": {
        kind: "failed",
        script: (fake) => void fake.on(SONGS.method, SONGS.path, json({ id: "9", music_file_path: null })),
      },
    },
  },
  idempotency: nothing("there is no key of idempotency"),
  callbacks: nothing("it has no callbacks"),
  lookup: nothing("no call finds a song"),
  cancel: nothing("nothing can be cancelled there"),
  probe: {
    route: LIMITS,
    responses: (fake) => {
      fake.on(LIMITS.method, LIMITS.path, json(limits(73)));
      return { amount: 73, unit: "songs" };
    },
    refusesKey: (fake) => void fake.on(LIMITS.method, LIMITS.path, json({ error: "unauthorized" }, { status: 401 })),
  },
  stemSplit: nothing("stems are a product of its own there"),
  vocalRemoval: nothing("its songs have no voices"),
};
