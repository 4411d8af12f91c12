import definition from "../../plugins/mubert/index.js";
import type {
  ExpectedTracks,
  MusicProviderHarness,
  NamedFailure,
  Script,
} from "../contract/music-provider.contract.js";
import { type FakeApi, json, tinyMp3 } from "../support/provider-kit/index.js";

export const CUSTOMERS = { method: "POST", path: "/api/v3/service/customers" } as const;
export const TRACKS = { method: "POST", path: "/api/v3/public/tracks" } as const;
export const TRACK = { method: "GET", path: "/api/v3/public/tracks/:id" } as const;
export const LICENSES = { method: "GET", path: "/api/v3/service/licenses" } as const;

export const LICENSE_TOKEN = "token-of-the-licence";
export const ACCESS_TOKEN = "token-of-the-customer";

/** The response to who asks for the customer. */
export const customer = (
  token = ACCESS_TOKEN,
  expiredAt: unknown = "2099-01-01T00:00:00.000000Z",
): ReturnType<typeof json> =>
  json({
    data: { id: "c1", company_id: "co1", custom_id: "fermata", access: { id: "t1", token, expired_at: expiredAt } },
  });

let created = 0;
export const accepts: Script = (fake) => {
  fake.on(CUSTOMERS.method, CUSTOMERS.path, customer());
  const generations = [{ status: "processing", url: null }];
  fake.on(TRACKS.method, TRACKS.path, () =>
    json({ data: { id: `u${(created += 1)}`, session_id: "s1", duration: 60, mode: "track", generations } }),
  );
};

/** The track as a poll shows it. */
export const track = (generations: unknown): Script => {
  return (fake) =>
    void fake.on(TRACK.method, TRACK.path, ({ params }) =>
      json({
        data: {
          id: params["id"],
          session_id: "s1",
          prompt: "rain",
          duration: 60,
          intensity: 1,
          key: "C#m",
          bpm: 92,
          generations,
        },
      }),
    );
};

const generation = (status: string, url: string | null = null, expiredAt = "2099-01-01T00:00:00Z"): object => ({
  session_id: "g1",
  format: "mp3",
  bitrate: 320,
  status,
  url,
  expired_at: expiredAt,
});

function succeeds(fake: FakeApi, marks: readonly string[] = ["one"], word = "done"): ExpectedTracks {
  const mixes = marks.map((mark) => tinyMp3(mark));
  void track(mixes.map((mix) => generation(word, fake.file(mix))))(fake);
  return { mixes, tracks: marks.map(() => ({ title: null, bpm: 92, mixSeconds: 60 })) };
}

const completes = (marks: readonly string[]): Script<ExpectedTracks> => {
  return async (fake) => {
    await accepts(fake);
    const expected = succeeds(fake, marks);
    fake.once(TRACK.method, TRACK.path, json({ data: { id: "u", generations: [generation("processing")] } }));
    return expected;
  };
};

const detail = (status: number, code?: string): ReturnType<typeof json> =>
  json({ message: "no", description: "why", code }, { status });
const answered =
  (status: number, code?: string): Script =>
  (fake) =>
    void fake.on(TRACK.method, TRACK.path, detail(status, code));
const refused = (status: number, code?: string): Script => {
  return async (fake) => {
    await accepts(fake);
    fake.on(TRACKS.method, TRACKS.path, detail(status, code));
  };
};
const customerRefused =
  (status: number, code?: string): Script =>
  (fake) =>
    void fake.on(CUSTOMERS.method, CUSTOMERS.path, detail(status, code));
const nothing = (why: string): { readonly notApplicable: string } => ({ notApplicable: why });

const forbidden = (kind: NamedFailure["kind"], codes: readonly string[]): Record<string, NamedFailure> =>
  Object.fromEntries(codes.map((code) => [code, { kind, script: refused(403, code) }]));

export const mubert: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ companyId: "co1", licenseToken: LICENSE_TOKEN, baseUrl: fake.url }),
  generation: { submit: TRACKS, completes: completes(["one"]), severalTracks: completes(["one", "two"]) },
  work: {
    status: TRACK,
    accepts,
    running: track([generation("processing")]),
    succeeds: (fake) => succeeds(fake),
    fails: [track([generation("failed")]), track([generation("failed"), generation("failed")])],
    rejectsContent: nothing("how moderation answers is not documented"),
    cancelled: nothing("nothing can be cancelled there"),
    timesOut: nothing("it has no such status"),
    gone: answered(404),
    expiredLink: (fake) => track([generation("done", fake.file(tinyMp3("old")), "2020-01-01T00:00:00Z")])(fake),
    succeedsEmpty: track([generation("done")]),
    partlyReady: (fake) => track([generation("done", fake.file(tinyMp3("one"))), generation("processing")])(fake),
    others: {
      "a status that is not known": { kind: "unavailable", script: track([generation("queued")]) },
      "an error of the server": { kind: "unavailable", script: answered(500) },
      "a question that it does not take": { kind: "unavailable", script: answered(422) },
      "a token that ran out": { kind: "unavailable", script: answered(403, "AccessTokenExpired") },
      "a licence that ran out": { kind: "misconfigured", script: answered(403, "LicenseExpired") },
      "a refusal that is about requests": { kind: "unavailable", script: answered(403, "LicenseForbiddenDuration") },
      "a 404 in words of others": {
        kind: "unavailable",
        script: (fake) => void fake.on(TRACK.method, TRACK.path, json({ error: "no route" }, { status: 404 })),
      },
    },
  },
  refusals: {
    content: nothing("how moderation answers is not documented"),
    rateLimit: refused(403, "LicenseLimitConcurrentTrackGenerationsCount"),
    key: refused(401, "Unauthenticated"),
    credit: [refused(403, "LicenseLimitTracksCount"), refused(403, "LicenseLimitTracksDuration")],
    unavailable: refused(503),
    input: refused(422),
    errorWith200: nothing("errors have a status of their own"),
    others: {
      ...forbidden("invalid_input", ["LicenseForbiddenDuration"]),
      ...forbidden("unavailable", ["AccessTokenExpired"]),
      ...forbidden("misconfigured", [
        "LicenseExpired",
        "LicenseIsNotActive",
        "LicenseForbiddenFormat",
        "LicenseForbiddenBitrate",
        "LicenseForbiddenIntensity",
        "LicenseForbiddenMode",
        "LicenseForbiddenFeature",
        "UserNotFound",
        "SomethingNew",
      ]),
      "too many requests, by the status": { kind: "rate_limited", script: refused(429) },
      "a path that is not there": { kind: "model_unavailable", script: refused(404) },
      "an error of the server": { kind: "outcome_unknown", script: refused(500) },
      "a licence token that it refuses": { kind: "misconfigured", script: customerRefused(401, "Unauthenticated") },
      "a licence that takes no more customers": {
        kind: "misconfigured",
        script: customerRefused(403, "LicenseLimitUsersCount"),
      },
      "a customer's name that it does not take": { kind: "misconfigured", script: customerRefused(422) },
      "no path to customers": { kind: "misconfigured", script: customerRefused(404) },
      "a customer whose data is unavailable for now": { kind: "unavailable", script: customerRefused(500) },
      "a customer without a token": {
        kind: "unavailable",
        script: (fake) => void fake.on(CUSTOMERS.method, CUSTOMERS.path, json({ data: { id: "c1" } })),
      },
    },
  },
  idempotency: nothing("there is no key of idempotency"),
  callbacks: nothing("there is one address for a licence, and none for a track"),
  lookup: nothing("a track carries no mark of ours"),
  cancel: nothing("nothing can be cancelled there"),
  probe: {
    route: LICENSES,
    responses: (fake) => {
      fake.on(LICENSES.method, LICENSES.path, json({ data: [{ id: "l1", status: "active" }] }));
      return null;
    },
    refusesKey: (fake) => void fake.on(LICENSES.method, LICENSES.path, detail(401, "Unauthenticated")),
  },
  stemSplit: nothing("it splits no tracks"),
  vocalRemoval: nothing("its tracks have no voices"),
};
