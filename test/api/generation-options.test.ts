import { expect } from "chai";
import fc from "fast-check";
import type { MusicRequest } from "../../core/ports/music-provider.js";
import { A_GENERATION, type ApiResponse, dataOf, errorOf, issuePaths, refusalOf } from "../support/api-client.js";
import { submitCompletes, submitFails, SCRIPTED_OPTIONS } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const GIVEN = { seed: 42, negative_prompt: "drums", key: "F# minor", vocal_gender: "female", loop: true } as const;
const WAIT = { Prefer: "wait=20" };

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly options: object;
}

describe("options of POST /api/v1/generations", () => {
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp({ work: true });
    caller = await test.account({ credits: 1_000_000 });
  });
  beforeEach(() => {
    test.provider.behaviour = submitCompletes;
    test.provider.submissions.length = 0;
  });
  after(() => test.close());

  const generate = (options: unknown, change: object = {}, headers = {}): Promise<ApiResponse> =>
    caller.api.generate({ ...A_GENERATION, ...change, options }, headers);
  const optionsSent = (): unknown => test.provider.submissions.map((request) => (request as MusicRequest).options);

  it("reach the provider with the declared defaults, and the API returns them as the caller gave them", async () => {
    const { id } = dataOf<Shown>(await generate(GIVEN, {}, WAIT));
    expect(optionsSent()).to.deep.equal([{ ...GIVEN, style_weight: 0.5 }]);
    const shown = dataOf<Shown>(await caller.api.get(`/api/v1/generations/${id}`));
    expect([shown.status, shown.options]).to.deep.equal(["completed", GIVEN]);
    const { generations } = dataOf<{ readonly generations: readonly Shown[] }>(
      await caller.api.get("/api/v1/generations?limit=1"),
    );
    expect(generations[0]?.options).to.deep.equal(GIVEN);
    expect(dataOf<Shown>(await caller.api.get(`/api/v1/jobs/${id}`)).options).to.deep.equal(GIVEN);
  });

  it("may be missing or empty: the provider then gets the defaults", async () => {
    for (const body of [A_GENERATION, { ...A_GENERATION, options: {} }]) {
      const { id } = dataOf<Shown>(await caller.api.generate(body, WAIT));
      for (const path of [`/api/v1/generations/${id}`, `/api/v1/jobs/${id}`])
        expect(dataOf(await caller.api.get(path))).to.not.have.property("options");
    }
    await caller.api.generate({ model_id: "scripted/beat", prompt: "rain", options: {} }, WAIT);
    expect(optionsSent()).to.deep.equal([{ style_weight: 0.5 }, { style_weight: 0.5 }, {}]);
  });

  it("are the same in every attempt", async () => {
    const own = await startTestApp({ work: true, settings: { jobs: { maxAttempts: 3, backoffMs: 1 } } });
    try {
      own.provider.behaviour = (request, context) =>
        (request.attempt < 3 ? submitFails("unavailable") : submitCompletes)(request, context);
      const { api } = await own.account();
      expect(dataOf<Shown>(await api.generate({ ...A_GENERATION, options: { seed: 7 } }, WAIT)).status).to.equal(
        "completed",
      );
      const sent = own.provider.submissions.map((request) => (request as MusicRequest).options);
      expect(sent).to.deep.equal(Array(3).fill({ seed: 7, style_weight: 0.5 }));
    } finally {
      await own.close();
    }
  });

  const wrong: readonly (readonly [
    what: string,
    options: unknown,
    issues: readonly (readonly [path: string, message: string])[],
  ])[] = [
    ["null", null, [["body.options", "must be a JSON object"]]],
    ["a list", [], [["body.options", "must be a JSON object"]]],
    ["a text", "seed=1", [["body.options", "must be a JSON object"]]],
    [
      "an unknown name",
      { sed: 1 },
      [
        [
          "body.options.sed",
          `is not a known option; allowed for scripted/song: ${Object.keys(SCRIPTED_OPTIONS).join(", ")}`,
        ],
      ],
    ],
    [
      "a number out of bounds",
      { seed: -1 },
      [["body.options.seed", "must be a whole number from 0 to 4294967295 for scripted/song"]],
    ],
    [
      "a number with a fraction",
      { seed: 0.5 },
      [["body.options.seed", "must be a whole number from 0 to 4294967295 for scripted/song"]],
    ],
    [
      "a number in quotes",
      { seed: "1" },
      [["body.options.seed", "must be a whole number from 0 to 4294967295 for scripted/song"]],
    ],
    ["null for a value", { seed: null }, [["body.options.seed", "must be a string, a number, true or false"]]],
    ["an object for a value", { seed: { a: 1 } }, [["body.options.seed", "must be a string, a number, true or false"]]],
    [
      "a text too long",
      { negative_prompt: "a".repeat(21) },
      [["body.options.negative_prompt", "must be a string of at most 20 characters for scripted/song"]],
    ],
    [
      "another key",
      { key: "H dur" },
      [["body.options.key", "must be a key such as C major, F# minor or Eb major for scripted/song"]],
    ],
    [
      "a value that is not listed",
      { vocal_gender: "any" },
      [["body.options.vocal_gender", "must be one of: female, male for scripted/song"]],
    ],
    [
      "several issues",
      { style_weight: 2, loop: 1, seed: 1 },
      [
        ["body.options.style_weight", "must be a number from 0 to 1 for scripted/song"],
        ["body.options.loop", "must be true or false for scripted/song"],
      ],
    ],
    [
      "more than 20 members",
      Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`o${n}`, 1])),
      [["body.options", "must have at most 20 members; it has 21"]],
    ],
    [
      "more than 16 KiB",
      { negative_prompt: "a".repeat(17_000) },
      [["body.options", "must have at most 16384 bytes as JSON"]],
    ],
  ];
  for (const [what, options, issues] of wrong) {
    it(`are refused with ${what}, with the path and the allowed values`, async () => {
      const response = await generate(options);
      expect(refusalOf(response)).to.equal("400 invalid_request");
      expect(errorOf(response).details).to.deep.equal({ issues: issues.map(([path, message]) => ({ path, message })) });
    });
  }

  it("are all refused for a model without options", async () => {
    const response = await generate({ seed: 1 }, { model_id: "scripted/beat", duration: undefined });
    expect(errorOf(response).details).to.deep.equal({
      issues: [{ path: "body.options.seed", message: "is not a known option; scripted/beat takes no options" }],
    });
  });

  it("are reported together with the request's other validation errors, each by its path", async () => {
    expect(issuePaths(await generate({ seed: -1 }, { duration: 241 }))).to.deep.equal([
      "body.duration",
      "body.options.seed",
    ]);
  });

  it("are refused under names of built-in object properties", async () => {
    for (const name of ["__proto__", "constructor", "hasOwnProperty"]) {
      const response = await caller.api.generate(
        `{"model_id":"scripted/song","prompt":"rain","options":{"${name}":1}}`,
      );
      expect(refusalOf(response), name).to.equal("400 invalid_request");
      expect(issuePaths(response)).to.deep.equal([`body.options.${name}`]);
    }
  });

  it("are part of the idempotency fingerprint", async () => {
    const post = (options: object | undefined): Promise<ApiResponse> =>
      caller.api.generate({ ...A_GENERATION, options }, { "Idempotency-Key": "with options" });
    const first = await post({ seed: 1, loop: true });
    expect(first.status).to.equal(202);
    const again = await post({ loop: true, seed: 1.0 });
    expect([again.text, again.headers.get("idempotent-replayed")]).to.deep.equal([first.text, "true"]);
    expect(refusalOf(await post({ seed: 2, loop: true }))).to.equal("409 idempotency_conflict");
    for (const other of [
      undefined,
      {},
      { seed: 1 },
      { seed: "1", loop: true },
      { seed: 1, loop: true, key: "C major" },
    ])
      expect(refusalOf(await post(other)), JSON.stringify(other)).to.equal("409 idempotency_key_conflict");
  });

  it("are accepted as declared or refused with 400, whatever their values", async () => {
    const names = fc.constantFrom("seed", "key", "loop", "style_weight", "negative_prompt", "__proto__", "toString");
    const options = fc.dictionary(fc.oneof(names, fc.string()), fc.oneof(fc.jsonValue(), fc.boolean(), fc.nat()), {
      maxKeys: 25,
    });
    await fc.assert(
      fc.asyncProperty(options, async (given) => {
        const response = await generate(given, {}, WAIT);
        if (response.status !== 202) {
          expect(refusalOf(response)).to.equal("400 invalid_request");
          for (const path of issuePaths(response)) expect(path.startsWith("body.options"), path).to.equal(true);
          return;
        }
        // On a machine that stood still a job before this one may be submitted only now.
        const { id } = dataOf<Shown>(response);
        const ofJob = test.provider.submissions.filter(({ jobId }) => jobId === id) as MusicRequest[];
        const sent = { style_weight: 0.5, ...(JSON.parse(JSON.stringify(given)) as object) };
        expect(ofJob.map((request) => request.options)).to.deep.equal([sent]);
      }),
      { numRuns: 60 },
    );
  });

  it("are validated for embedding apps as for the API", async () => {
    const { account } = caller;
    const input = { modelId: "scripted/song", prompt: "rain" };
    const { generations } = test.app;
    const created = await generations.create(account.id, { ...input, options: { seed: 3, key: undefined } });
    expect(created.request.options).to.deep.equal({ seed: 3 });
    for (const options of [{ seed: -1 }, { seed: 1n }, { seed: () => 1 }, { unknown: 1 }, []] as unknown as Record<
      string,
      unknown
    >[]) {
      for (const key of [{}, { key: "order 17" }]) {
        const error = await generations.create(account.id, { ...input, options }, key).catch((cause: unknown) => cause);
        expect(error).to.have.property("code", "invalid_request");
      }
    }
  });
});
