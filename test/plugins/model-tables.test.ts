import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { ProviderDefinition, ProviderHost, ProviderModel } from "../../core/ports/music-provider.js";
import fal from "../../plugins/fal/index.js";
import loudly from "../../plugins/loudly/index.js";
import replicate from "../../plugins/replicate/index.js";
import { aMusicRequest, FakeApi, type FakeRequest, json, providerHost, settingsOf } from "../support/provider-kit/index.js";
import { repositoryPath } from "../support/repository.js";

interface Row {
  readonly creditCost: number;
  readonly lyrics: string;
  readonly duration: ProviderModel["duration"];
}

/** The rows of the README's table of models, by model; a row may be of several. */
function rowsOf({ id }: ProviderDefinition): ReadonlyMap<string, Row> {
  const readme = readFileSync(repositoryPath(`plugins/${id}/README.md`), "utf8");
  const rows = readme.split("\n").filter((line) => line.startsWith(`| \`${id}/`));
  return new Map(
    rows.flatMap((row) => {
      const [, models = "", credits = "", lyrics = ""] = row.split("|").map((cell) => cell.trim());
      const costs = credits.split(", ").map(Number);
      const bounds = /\| (\d+) to (\d+), default (\d+) \|/.exec(row);
      const [minSeconds = 0, maxSeconds = 0, defaultSeconds = 0] = (bounds ?? []).slice(1).map(Number);
      const duration = bounds === null ? null : { minSeconds, maxSeconds, defaultSeconds };
      return [...models.matchAll(/`([^`]+)`/g)].map(([, model = ""], index) => {
        return [model, { creditCost: costs[index] ?? costs[0] ?? 0, lyrics, duration }] as const;
      });
    }),
  );
}

/** All that a request says, whichever way. */
function valuesOf({ json: body, fields }: FakeRequest): string[] {
  if (typeof body !== "object" || body === null)
    return fields.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  const { input = body } = body as { readonly input?: object };
  return Object.values(input).map(String);
}

const HARNESSES: readonly (readonly [ProviderDefinition, (fake: FakeApi) => ProviderHost["settings"]])[] = [
  [fal, ({ url }) => ({ apiKey: "key-of-the-test", baseUrl: url, jwksUrl: url, platformUrl: url })],
  [replicate, ({ url }) => ({ apiKey: "key-of-the-test", baseUrl: url })],
  [loudly, ({ url }) => ({ apiKey: "key-of-the-test", baseUrl: url })],
];

for (const [definition, settings] of HARNESSES) {
  describe(`The table of models of ${definition.id}`, () => {
    const rows = rowsOf(definition);

    it("has the models of the definition, their credits, lyrics and durations", () => {
      expect([...rows.keys()]).to.have.members(definition.models.map(({ id }) => id));
      for (const { id, creditCost, supportsLyrics, requiresLyrics = false, duration } of definition.models) {
        const row = rows.get(id);
        expect({ id, creditCost: row?.creditCost, duration: row?.duration }).to.deep.equal({ id, creditCost, duration });
        expect([/^no\b/.test(row?.lyrics ?? ""), /^needed\b/.test(row?.lyrics ?? "")], id).to.deep.equal([
          !supportsLyrics,
          requiresLyrics,
        ]);
      }
    });

    it("names the durations that are sent when a request names none", async () => {
      for (const model of definition.models) {
        const { duration } = rows.get(model.id) ?? {};
        if (duration === null || duration === undefined) continue;
        const fake = await FakeApi.open();
        try {
          fake.on("POST", "/*", json({}, { status: 400 }));
          const provider = definition.create(providerHost({ settings: settingsOf(definition, settings(fake)) }));
          const request = aMusicRequest(model, { durationSeconds: null });
          const submitted = provider.submit(request, { signal: new AbortController().signal });
          const refusal = await submitted.then(
            () => null,
            (error: unknown) => error,
          );
          expect(refusal, model.id).to.include({ kind: "invalid_input" });
          const { defaultSeconds } = duration;
          const [value] = fake.requests
            .flatMap(valuesOf)
            .filter((said) => [defaultSeconds, defaultSeconds * 1_000].includes(Number(said)));
          expect(value, model.id).to.be.a("string");
        } finally {
          await fake.close();
        }
      }
    });
  });
}
