import fc from "fast-check";
import type { OpenApiDocument, Operation } from "../../../adapters/http/openapi/model.js";
import { BOUNDARY, FORM_TYPE, formOf } from "../audio-form.js";
import { SILENCE_WAV } from "../library-fixture.js";
import { SAMPLES } from "./samples.js";
import { valuesOf } from "./schema-values.js";
import { aChange, changed, oddText, oddValue } from "./values.js";

export type Headers = readonly (readonly [name: string, value: string])[];

/** The text as a header can carry it. */
export function inHeader(value: string): string {
  return value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "~");
}

export interface Body {
  readonly content: string | Uint8Array | null;
  readonly headers: Headers;
}

const JSON_TYPE: Headers = [["Content-Type", "application/json"]];
const NO_BODY: Body = { content: null, headers: [] };

/** Bodies for an operation, most of which are nearly valid. */
export function bodies({ requestBody }: Operation, { components }: OpenApiDocument): fc.Arbitrary<Body> {
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
  if (type === undefined || media === undefined)
    return fc.oneof({ weight: 6, arbitrary: fc.constant(NO_BODY) }, { weight: 1, arbitrary: oddBodies });
  if (type.startsWith("multipart/"))
    return fc.oneof({ weight: 4, arbitrary: forms }, { weight: 1, arbitrary: oddBodies });
  const valid = valuesOf(media.schema, components.schemas, SAMPLES);
  const whole = fc
    .tuple(
      valid,
      fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(aChange, { minLength: 1, maxLength: 3 })),
    )
    .map(([value, changes]): Body => ({ content: JSON.stringify(changed(value, changes)) ?? "", headers: JSON_TYPE }));
  const cut = fc.tuple(whole, textChange).map(([{ content }, change]): Body => ({
    content: change(content as string),
    headers: JSON_TYPE,
  }));
  return fc.oneof(
    { weight: 8, arbitrary: whole },
    { weight: 2, arbitrary: cut },
    { weight: 2, arbitrary: oddBodies },
    { weight: 1, arbitrary: fc.constant(NO_BODY) },
  );
}

/** Changes of JSON as text, which no value makes. */
const textChange: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc.nat(400).map((at) => (text: string) => text.slice(0, at)),
  fc
    .constantFrom("1e999", "-1e999", "0".repeat(30), "9".repeat(400), "NaN", "'x'")
    .map((number) => (text: string) => text.replace(/(?<=[:[,])-?\d[\d.e+-]*|true|false/, number)),
  fc.constantFrom("\ufeff", " ", "\n\n", "//", ")]}',", "\u0000").map((start) => (text: string) => start + text),
  fc.constantFrom("{}", ",", "\u0000", "}", " ".repeat(9_000)).map((end) => (text: string) => text + end),
  fc
    .constantFrom(100, 5_000, 60_000)
    .map((depth) => (text: string) => text.replace(/}$/, `,"deep":${"[".repeat(depth)}${"]".repeat(depth)}}`)),
  fc.constant((text: string) => text.replace(/^\{("[^"]*":)/, "{$1null,$1")),
);

/** Bodies of other types, other encodings, and of no type. */
const oddBodies: fc.Arbitrary<Body> = fc
  .tuple(
    fc.oneof(
      oddValue.map((value) => JSON.stringify(value) ?? ""),
      fc.uint8Array({ maxLength: 100 }),
      fc.constantFrom("", "a=1&b=2", "<xml/>", "x".repeat(70_000)),
    ),
    fc.constantFrom(
      ...["application/json", "application/json; charset=utf-16", "application/json; charset=x", "text/plain"],
      ...["APPLICATION/JSON", "application/x-www-form-urlencoded", "multipart/form-data", FORM_TYPE, ";", "", "text"],
      ...["application/vnd.api+json", "application/json;;;", "application/json, text/html", "application/xml"],
    ),
    fc.constantFrom("", "", "", "gzip", "deflate", "br", "identity", "x", "gzip, gzip"),
  )
  .map(([content, type, encoding]) => ({
    content,
    headers: [
      ...(type === "" ? [] : ([["Content-Type", type]] as const)),
      ...(encoding === "" ? [] : ([["Content-Encoding", encoding]] as const)),
    ],
  }));

/** Forms with a file: mostly whole, with files that are none, and with parts that do not belong there. */
const forms: fc.Arbitrary<Body> = fc
  .record({
    parts: fc.array(
      fc.record({
        name: fc.oneof(fc.constantFrom("audio", "audio", "title", "x", "__proto__"), oddText.map(inHeader)),
        content: fc.oneof(
          fc.constantFrom<Uint8Array | string>(SILENCE_WAV, SILENCE_WAV, "", "no sound"),
          fc.uint8Array({ maxLength: 60 }),
          oddText,
        ),
        filename: fc.option(fc.oneof(fc.constantFrom("hum.wav", "../../x.mp3", "a\u0000b"), oddText.map(inHeader))),
      }),
      { minLength: 0, maxLength: 4 },
    ),
    isWhole: fc.boolean(),
    cut: fc.option(fc.nat(500), { freq: 4 }),
    boundary: fc.constantFrom(FORM_TYPE, FORM_TYPE, FORM_TYPE, "multipart/form-data; boundary=", `x; ${BOUNDARY}`),
  })
  .map(({ parts, isWhole, cut, boundary }) => {
    const given = parts.map(({ name, content, filename }) => ({
      name,
      content,
      ...(filename === null ? {} : { filename }),
    }));
    const whole = formOf(given, { isWhole });
    return { content: cut === null ? whole : whole.subarray(0, cut), headers: [["Content-Type", boundary]] };
  });
