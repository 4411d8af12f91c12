import type { ExpectedTracks, MusicProviderHarness, Script } from "../contract/music-provider.contract.js";
import { type FakeResponse, type FakeApi, json, tinyMp3 } from "../support/provider-kit/index.js";
import { responses, base64, behind, common, geminiSettings, named, others, refusal, SAME } from "./lyria-support.js";

export const CREATE = { method: "POST", path: "/v1beta/interactions" } as const;
export const GET = { method: "GET", path: "/v1beta/interactions/:id" } as const;
export const CANCEL = { method: "POST", path: "/v1beta/interactions/:id/cancel" } as const;

/** An interaction, as the SDK's types have it. */
export function interaction(status: string, parts: object = {}): FakeResponse {
  const [created, updated] = ["2026-11-02T10:00:00Z", "2026-11-02T10:00:40Z"];
  return json({ id: "v1_abc", object: "interaction", model: "lyria-3.5", status, created, updated, ...parts });
}

export const sung = (content: Uint8Array): object[] => [
  { type: "text", text: "[Verse] Neon on the water" },
  { type: "audio", mime_type: "audio/mpeg", data: base64(content) },
];

/** The steps of one that is done; the input is not the model's. */
export const stepsOf = (content: readonly object[]): object => ({
  steps: [
    { type: "user_input", content: [{ type: "text", text: "Synth pop" }] },
    { type: "thought", signature: "c2ln" },
    { type: "model_output", content },
  ],
});

/** An error of the Interactions API: a code in words, and nothing else. */
export const plainRefusal = (status: number, code: string, message: string): FakeResponse =>
  json({ error: { message, code } }, { status });

let result = 0;
export const accepts: Script = (fake) =>
  void fake.on("POST", CREATE.path, () => interaction("in_progress", { id: `v1_abc${(result += 1)}` }));

const polled = (response: FakeResponse): Script => responses(GET, response);
const failed = (parts: object, status = "failed"): Script => polled(interaction(status, parts));

function succeeds(fake: FakeApi): ExpectedTracks {
  const mix = tinyMp3("neon");
  fake.on("GET", GET.path, interaction("completed", stepsOf(sung(mix))));
  return { mixes: [mix], tracks: [{ title: null, bpm: null, mixSeconds: null }] };
}

export const interactionsHarness: MusicProviderHarness = {
  ...SAME,
  settings: (fake) => geminiSettings(fake, "interactions"),
  models: behind("gemini"),
  generation: {
    submit: CREATE,
    completes: async (fake) => {
      await accepts(fake);
      const expected = succeeds(fake);
      fake.once("GET", GET.path, interaction("in_progress"));
      return expected;
    },
    severalTracks: { notApplicable: "an interaction makes one song" },
  },
  work: {
    status: GET,
    accepts,
    running: polled(interaction("queued")),
    succeeds,
    fails: [
      failed({ errors: [{ code: "https://ai.google.dev/errors/internal", message: "Internal error." }] }),
      failed({ steps: [{ type: "model_output", error: { code: 13, message: "Internal error." } }] }),
      failed({}),
      failed({}, "incomplete"),
      failed({}, "budget_exceeded"),
      failed({}, "requires_action"),
    ],
    rejectsContent: failed({ errors: [{ code: "invalid_request", message: "Blocked by safety filters." }] }),
    cancelled: polled(interaction("cancelled")),
    timesOut: { notApplicable: "no such status is documented" },
    gone: polled(refusal(404, "NOT_FOUND", "Interaction not found.")),
    expiredLink: { notApplicable: "the sound is in the interaction itself" },
    succeedsEmpty: polled(interaction("completed", stepsOf([{ type: "text", text: "la" }]))),
    partlyReady: { notApplicable: "an interaction makes one song" },
    others: {
      "an interaction that is there no more, in words": named("gone", polled(plainRefusal(404, "not_found", "No."))),
      "a key that was taken back": named("misconfigured", polled(refusal(403, "PERMISSION_DENIED"))),
      "a key that expired": named("misconfigured", polled(refusal(400, "INVALID_ARGUMENT", "API key expired."))),
      "an account that was emptied": named("out_of_credit", polled(refusal(402, "RESOURCE_EXHAUSTED"))),
      "questions that come too fast": named("rate_limited", polled(refusal(429, "RESOURCE_EXHAUSTED"))),
      "a status call that was cancelled on the way": named("unavailable", polled(refusal(499, "CANCELLED"))),
      "a status call that failed": named("unavailable", polled(refusal(500, "INTERNAL"))),
    },
  },
  refusals: {
    ...common(CREATE),
    errorWith200: named(
      "content_rejected",
      responses(
        CREATE,
        interaction("failed", { errors: [{ code: "invalid_request", message: "It names an artist." }] }),
      ),
    ),
    others: {
      ...others(CREATE),
      "a request it does not take, in words": named(
        "invalid_input",
        responses(CREATE, plainRefusal(400, "invalid_request", "Bad input.")),
      ),
      "content, in words": named(
        "content_rejected",
        responses(CREATE, plainRefusal(400, "invalid_request", "Blocked: safety.")),
      ),
      "a model without work in the background": named(
        "misconfigured",
        responses(
          CREATE,
          plainRefusal(400, "invalid_request", "Background execution is not supported for this model."),
        ),
      ),
      "music for the background, blocked": named(
        "content_rejected",
        responses(CREATE, plainRefusal(400, "invalid_request", "Not allowed: background music of an artist.")),
      ),
      "a key that is not valid, in a list": named(
        "misconfigured",
        responses(CREATE, json([{ error: { code: 400, message: "API key not valid." } }], { status: 400 })),
      ),
    },
  },
  cancel: {
    route: CANCEL,
    cancels: responses(CANCEL, interaction("cancelled")),
    tooLate: responses(CANCEL, plainRefusal(400, "invalid_request", "Interaction is not running.")),
  },
};
