import { type ProviderModel, STANDARD_OPTIONS } from "../../core/ports/music-provider.js";
import type { ExpectedTracks, MusicProviderHarness, Script } from "../contract/music-provider.contract.js";
import { bytes, type FakeApi, type FakeRequest, json, tinyMp3, tinyWav } from "../support/provider-kit/index.js";
import definition from "../../plugins/http-model/index.js";

export const SUBMIT = { method: "POST", path: "/v1/generations" } as const;
export const STATUS = { method: "GET", path: "/v1/generations/:id" } as const;

export const MODEL: ProviderModel = {
  id: "http-model/musicgen",
  name: "MusicGen",
  creditCost: 3,
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: { minSeconds: 1, maxSeconds: 60, defaultSeconds: 20 },
  upstream: "facebook/musicgen-large",
  options: { seed: 7, format: "wav" },
};

/** Some of its options are the caller's. */
export const CHOOSING: ProviderModel = {
  ...MODEL,
  id: "http-model/choosing",
  name: "MusicGen, with choices",
  options: { format: "wav" },
  requestOptions: {
    seed: STANDARD_OPTIONS.seed,
    negative_prompt: STANDARD_OPTIONS.negative_prompt,
    voice: { type: "string", allowed: ["alto", "bass"], description: "Who sings." },
    loop: { type: "boolean", description: "Whether the end leads to the beginning." },
  },
};

type Members = { readonly [name: string]: unknown };

/** The options of requests among the members of an object in the body that creates. */
function optionsIn(
  requests: readonly FakeRequest[],
  objectIn: (body: Members) => unknown,
  model: ProviderModel,
): Members {
  const call = requests.find(({ method }) => method === "POST");
  const all = Object.entries((objectIn((call?.json ?? {}) as Members) ?? {}) as Members);
  return Object.fromEntries(all.filter(([name]) => Object.hasOwn(model.requestOptions ?? {}, name)));
}

const NONE = { notApplicable: "a model server has no such thing" } as const;

/** What every server of this kind lacks. */
const MISSING = {
  lookup: { notApplicable: "the protocol has none" },
  probe: { notApplicable: "the protocol has none" },
  stemSplit: { notApplicable: "model servers make music" },
  vocalRemoval: { notApplicable: "model servers make music" },
} as const;

const refused = (
  status: number,
  body: object = {},
  headers: Record<string, string> = {},
  path: string = SUBMIT.path,
): Script => {
  return (fake) => void fake.on("POST", path, json(body, { status, headers }));
};

const refusals = (path: string, rejection: object): MusicProviderHarness["refusals"] => ({
  content: refused(422, rejection, {}, path),
  rateLimit: { script: refused(429, {}, { "retry-after": "3" }, path), retryAfterMs: 3_000 },
  key: refused(401, {}, {}, path),
  credit: refused(402, {}, {}, path),
  unavailable: refused(503, {}, {}, path),
  input: refused(400, {}, {}, path),
  errorWith200: { kind: "content_rejected", script: refused(200, rejection, {}, path) },
  others: { "a path that is not there": { kind: "model_unavailable", script: refused(404, {}, {}, path) } },
});

let created = 0;

/** A server that speaks the documented protocol, with everything that is optional. */
export function documented(): MusicProviderHarness {
  const status =
    (body: object): Script =>
    (fake) =>
      void fake.on("GET", STATUS.path, ({ params }) => json({ id: params["id"], ...body }));
  const accepts: Script = (fake) =>
    void fake.on("POST", SUBMIT.path, () => json({ id: `gen/${(created += 1)}`, status: "queued" }, { status: 202 }));
  const succeeds = (fake: FakeApi, marks: readonly string[] = ["one"]): ExpectedTracks => {
    const mixes = marks.map((mark) => tinyMp3(mark));
    // The files are the server's own: their URLs are relative, and want the key.
    const tracks = mixes.map((mix, index) => {
      const path = `/files/${marks[index]}.mp3`;
      fake.on("GET", path, ({ headers }) =>
        headers["authorization"] === "Bearer key-of-the-server" ? bytes(mix, "audio/mpeg") : json({}, { status: 401 }),
      );
      return { title: `Take ${index + 1}`, duration: 12.5, audio_url: path };
    });
    void status({ status: "succeeded", tracks })(fake);
    return { mixes, tracks: marks.map((_, index) => ({ title: `Take ${index + 1}`, mixSeconds: 12.5 })) };
  };
  const completes =
    (marks: readonly string[]): Script<ExpectedTracks> =>
    async (fake) => {
      await accepts(fake);
      fake.once("GET", STATUS.path, json({ status: "running" }));
      return succeeds(fake, marks);
    };
  return {
    ...MISSING,
    definition,
    models: [MODEL, CHOOSING],
    options: { sent: (requests, model) => optionsIn(requests, ({ options }) => options, model) },
    settings: (fake) => ({
      baseUrl: fake.url,
      apiKey: "key-of-the-server",
      cancelPath: "/v1/generations/{{id}}/cancel",
      callbacks: true,
      idempotent: true,
    }),
    generation: { submit: SUBMIT, completes: completes(["one"]), severalTracks: completes(["one", "two"]) },
    work: {
      status: STATUS,
      accepts,
      running: status({ status: "running" }),
      succeeds: (fake) => succeeds(fake),
      fails: [status({ status: "failed", error: { message: "out of memory" } }), status({ status: "FAILED" })],
      rejectsContent: status({ status: "failed", error: { code: "content_rejected" } }),
      cancelled: [status({ status: "cancelled" }), status({ status: "canceled" })],
      timesOut: status({ status: "timeout" }),
      gone: (fake) => void fake.on("GET", STATUS.path, json({}, { status: 404 })),
      expiredLink: (fake) => void fake.on("GET", STATUS.path, json({}, { status: 410 })),
      succeedsEmpty: status({ status: "succeeded", tracks: [] }),
      partlyReady: status({ status: "running", tracks: [{ audio_url: "/files/first.mp3" }] }),
      others: {
        "an error without a status": { kind: "failed", script: status({ error: { message: "no gpu" } }) },
        "a track without a file": {
          kind: "failed",
          script: status({ status: "succeeded", tracks: [{ title: "nothing" }] }),
        },
        "a success without a list of tracks": { kind: "failed", script: status({ status: "succeeded" }) },
        "a status word that it does not know": { kind: "unavailable", script: status({ status: "pondering" }) },
      },
    },
    refusals: refusals(SUBMIT.path, { error: { code: "content_rejected", message: "not that" } }),
    idempotency: { keyOf: ({ headers }) => headers["idempotency-key"] },
    callbacks: {
      stages: ["succeeded"],
      send: (_, { handle }) => ({ body: JSON.stringify({ id: handle.data["id"] }) }),
      signature: { notApplicable: "it signs nothing" },
    },
    cancel: {
      route: { method: "POST", path: "/v1/generations/:id/cancel" },
      cancels: (fake) => void fake.on("POST", "/v1/generations/:id/cancel", json({})),
      tooLate: (fake) => void fake.on("POST", "/v1/generations/:id/cancel", json({}, { status: 409 })),
    },
  };
}

/**
 * A server with a shape of its own: another header, nested members, words in capitals, a bare list of absolute URLs.
 */
export function foreign(): MusicProviderHarness {
  const submit = { method: "POST", path: "/predict/facebook/musicgen-large" };
  const statusRoute = { method: "GET", path: "/predict/status/:id" };
  const status =
    (body: object): Script =>
    (fake) =>
      void fake.on("GET", statusRoute.path, json({ prediction: body }));
  const accepts: Script = (fake) =>
    void fake.on("POST", submit.path, () => json({ prediction: { uid: (created += 1), phase: "IN_QUEUE" } }));
  const succeeds = (fake: FakeApi, marks: readonly string[] = ["one"]): ExpectedTracks => {
    const mixes = marks.map((mark) => tinyMp3(mark));
    void status({ phase: "DONE", output: mixes.map((mix) => fake.file(mix)) })(fake);
    return { mixes };
  };
  const completes =
    (marks: readonly string[]): Script<ExpectedTracks> =>
    async (fake) => {
      await accepts(fake);
      fake.once("GET", statusRoute.path, json({ prediction: { phase: "IN_PROGRESS" } }));
      return succeeds(fake, marks);
    };
  return {
    ...MISSING,
    definition,
    models: [MODEL, CHOOSING],
    options: {
      sent: (requests, model) => {
        const ours = ({ input }: Members): Members => {
          const { avoid: negative_prompt, singer: voice, ...others } = input as Members;
          return { ...others, negative_prompt, voice };
        };
        return optionsIn(requests, ours, model);
      },
    },
    settings: (fake) => ({
      baseUrl: fake.url,
      apiKey: "token-of-the-server",
      authHeader: "X-Token",
      authScheme: "",
      submitPath: "/predict/{{model}}",
      statusPath: "/predict/status/{{id}}",
      request:
        '{"input":{"text":"{{prompt}}, seed {{options.seed}}","seconds":"{{duration}}","words":"{{lyrics}}",' +
        '"seed":"{{options.seed}}","avoid":"{{options.negative_prompt}}","singer":"{{options.voice}}",' +
        '"loop":"{{options.loop}}"}}',
      idPointer: "/prediction/uid",
      statusPointer: "/prediction/phase",
      statusWords:
        '{"IN_QUEUE":"running","IN_PROGRESS":"running","DONE":"completed",' +
        '"ERROR":"failed","ABORTED":"cancelled","REFUSED":"content_rejected"}',
      tracksPointer: "/prediction/output",
      audioUrlPointer: "",
      errorPointer: "/prediction/detail",
      errorCodePointer: "/prediction/reason",
      rejectionCodes: "nsfw, 1026",
    }),
    generation: { submit, completes: completes(["one"]), severalTracks: completes(["one", "two", "three"]) },
    work: {
      status: statusRoute,
      accepts,
      running: status({ phase: "IN_PROGRESS" }),
      succeeds: (fake) => succeeds(fake),
      fails: status({ phase: "ERROR", detail: "CUDA out of memory" }),
      rejectsContent: status({ phase: "ERROR", reason: 1026 }),
      cancelled: status({ phase: "ABORTED" }),
      timesOut: NONE,
      gone: (fake) => void fake.on("GET", statusRoute.path, json({}, { status: 404 })),
      expiredLink: NONE,
      succeedsEmpty: status({ phase: "DONE", output: null }),
      partlyReady: NONE,
      others: {
        "a refusal with a word of its own": { kind: "content_rejected", script: status({ phase: "refused" }) },
      },
    },
    refusals: refusals(submit.path, { prediction: { reason: "NSFW" } }),
    idempotency: { notApplicable: "it does not look at the key" },
    callbacks: { notApplicable: "it has no callbacks" },
    cancel: { notApplicable: "it cannot stop" },
  };
}

/** A server that answers the file itself, as the smallest of them do. */
export function immediate(): MusicProviderHarness {
  const { work: _, ...rest } = documented();
  return {
    ...rest,
    settings: (fake) => ({ baseUrl: `${fake.url}/` }),
    generation: {
      submit: SUBMIT,
      completes: (fake) => {
        const mix = tinyWav(330);
        fake.on("POST", SUBMIT.path, bytes(mix, "audio/wav"));
        return { mixes: [mix] };
      },
      severalTracks: (fake) => {
        const mixes = [tinyWav(330), tinyWav(440)];
        const tracks = mixes.map((mix, index) => ({
          audio_base64: `${index === 0 ? "" : "data:audio/wav;base64,"}${Buffer.from(mix).toString("base64")}`,
        }));
        fake.on("POST", SUBMIT.path, json({ tracks }));
        return { mixes };
      },
    },
    work: { notApplicable: "the call lasts as long as the work" },
    idempotency: { notApplicable: "it does not look at the key" },
    callbacks: { notApplicable: "it has no callbacks" },
    cancel: { notApplicable: "it cannot stop" },
  };
}
