import { expect } from "chai";
import type { DurationBounds, MusicRequest, ProviderModel } from "../../../core/ports/music-provider.js";
import type { FakeRequest } from "../../support/provider-kit/request.js";
import { aMusicRequest } from "../../support/provider-kit/requests.js";
import { type GenerationScenarios, isApplicable, type MusicProviderHarness } from "./harness.js";
import { modelsOf, type ProviderUnderTest } from "./tested.js";

/** What is sent of each model: its name there, and how long the music is to be. */
export function describeModels(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  const { generation } = harness;
  if (!isApplicable(generation) || !isApplicable(generation.submit)) return;

  for (const model of modelsOf(harness)) {
    const { id, upstream, duration } = model;
    if (upstream !== undefined) {
      it(`names ${id} to the provider as it is known there: ${upstream}`, async () => {
        const values = (await sentFor(tested(), generation, model)).flatMap(valuesIn);
        expect(
          values.some((value) => value.includes(upstream)),
          `what was sent has ${upstream}`,
        ).to.equal(true);
      });
    }
    describeWords(generation, model, tested);
    if (duration !== null) describeDuration(generation, model, duration, tested);
  }
}

/** Words that no plugin has by itself. */
const PROMPT = "zither by an oxbow lake";
const LINE = "Quinces ripen over Yarrow Bridge";

function describeWords(generation: GenerationScenarios, model: ProviderModel, tested: () => ProviderUnderTest): void {
  const sent = async (parts: Partial<MusicRequest>): Promise<string> =>
    (await sentFor(tested(), generation, model, parts)).flatMap(valuesIn).join("\n");

  it(`sends the prompt of a request to ${model.id}`, async () => {
    expect(await sent({ prompt: PROMPT }), "what was sent").to.include(PROMPT);
  });
  if (!model.supportsLyrics) return;
  it(`sends the lyrics of a request to ${model.id}`, async () => {
    const lyrics = `[Verse]\n${LINE}\nAll is well inside`;
    expect(await sent({ lyrics, instrumental: false }), "what was sent").to.include(LINE);
  });
}

function describeDuration(
  generation: GenerationScenarios,
  model: ProviderModel,
  { minSeconds, maxSeconds, defaultSeconds }: DurationBounds,
  tested: () => ProviderUnderTest,
): void {
  const sent = async (seconds: number | null, default_ = defaultSeconds): Promise<string> => {
    const changed = { ...model, duration: { minSeconds, maxSeconds, defaultSeconds: default_ } };
    const requests = await sentFor(tested(), generation, changed, { durationSeconds: seconds });
    return JSON.stringify(requests.map(contentOf));
  };
  const ends = [...new Set([minSeconds, maxSeconds])].filter((seconds) => seconds !== defaultSeconds);

  it(`sends the default duration of ${model.id} where a request names none: ${defaultSeconds} s`, async () => {
    // What is asked for once, a token or a customer, is there from then on.
    await sent(defaultSeconds);
    expect(await sent(null), "what was sent without a duration").to.equal(await sent(defaultSeconds));
  });

  for (const seconds of ends) {
    it(`sends the duration of ${model.id}, given or chosen by the operator as its default: ${seconds} s`, async () => {
      await sent(seconds);
      const given = await sent(seconds);
      expect(given, `what was sent for ${seconds} s, and for ${defaultSeconds} s`).to.not.equal(
        await sent(defaultSeconds),
      );
      expect(await sent(null, seconds), "what was sent without a duration").to.equal(given);
    });
  }
}

/** What was sent for a generation. Its reply may be that of another model, and is not looked at. */
async function sentFor(
  tested: ProviderUnderTest,
  { completes }: GenerationScenarios,
  model: ProviderModel,
  parts: Partial<MusicRequest> = {},
): Promise<FakeRequest[]> {
  const { fake, provider } = tested;
  const { options, request } = tested.harness;
  const byModel = options !== undefined && isApplicable(options) ? options.completes : undefined;
  if (byModel === undefined) await completes(fake);
  else await byModel(fake, model);
  const before = fake.requests.length;
  const sameJob = { jobId: "job_01jd", attemptId: "att_01jd" };
  const { signal } = new AbortController();
  const submitted = provider.submit(aMusicRequest(model, { ...request, ...sameJob, ...parts }), { signal });
  await submitted.catch((error: unknown) => tested.failureIn(error));
  return fake.requests.slice(before);
}

/** What a request says, without what differs from one to the next: headers, the boundary of a form. */
function contentOf({ method, path, query, json, fields, text }: FakeRequest): unknown {
  return { method, path, query, body: json ?? (fields.length > 0 ? fields : text) };
}

/** Everything that a request holds, as text: parts of its path, fields, and values of its JSON. */
function valuesIn({ path, query, json, fields }: FakeRequest): string[] {
  const flat = (value: unknown): unknown[] =>
    typeof value === "object" && value !== null ? Object.values(value).flatMap(flat) : [value];
  const whole = decodeURIComponent(path);
  return [whole, ...whole.split(/[/:]/), ...flat(query), ...flat(json), ...flat(fields)].map(String);
}
