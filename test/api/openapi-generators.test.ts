import { expect } from "chai";
import { startTestApp } from "../support/test-app.js";

/** Of JSON Schema, what generators of clients do not map to types. */
const UNSUPPORTED = [
  ...["not", "if", "then", "else", "patternProperties", "dependentSchemas", "unevaluatedProperties", "prefixItems"],
  ...["$dynamicRef", "$anchor", "contains", "propertyNames"],
];
/** Bodies and responses that openapi-python-client reads and writes. */
const MEDIA_TYPES = ["application/json", "multipart/form-data", "text/event-stream"];

interface Described {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: object }[];
}

/** A value in the document, with the keys that lead to it. */
interface Place {
  readonly keys: readonly string[];
  readonly value: unknown;
}

function* placesOf(value: unknown, keys: readonly string[] = []): Generator<Place> {
  yield { keys, value };
  if (typeof value !== "object" || value === null) return;
  // Examples are data, not schemas.
  for (const [key, part] of Object.entries(value))
    if (key !== "example" && key !== "examples") yield* placesOf(part, [...keys, key]);
}

describe("The description of the API, for generators of clients such as openapi-python-client", () => {
  let document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };
  let places: readonly Place[];
  before(async () => {
    const test = await startTestApp();
    document = (await test.anonymous.get("/openapi.json")).json as typeof document;
    await test.close();
    places = [...placesOf(document)];
  });

  const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));

  it("names every operation once, by a name that can be a function's", () => {
    const names = operations().map(({ operationId }) => operationId ?? "");
    expect(names.filter((name) => !/^[a-z][a-zA-Z0-9]*$/.test(name))).to.deep.equal([]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).to.equal(names.length);
  });

  it("gives each parameter a schema, and an operation no two that differ in their place alone", () => {
    for (const { operationId, parameters = [] } of operations()) {
      expect(parameters.filter(({ schema }) => schema === undefined)).to.deep.equal([]);
      expect(new Set(parameters.map(({ name }) => name)).size, operationId).to.equal(parameters.length);
    }
  });

  it("refers to what is in it", () => {
    const references = places.flatMap(({ keys, value }) => (keys.at(-1) === "$ref" ? [value as string] : []));
    expect(references.length).to.be.greaterThan(50);
    for (const reference of references) {
      const keys = reference.replace("#/", "").split("/");
      const target = keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
      expect(target, reference).to.be.an("object");
    }
  });

  it("uses no construct and no media type that generators do not know", () => {
    // A property of a schema may have any name.
    const constructs = places.filter(
      ({ keys }) => UNSUPPORTED.includes(keys.at(-1) ?? "") && keys.at(-2) !== "properties",
    );
    expect(constructs.map(({ keys }) => keys.join("/"))).to.deep.equal([]);
    const types = places.flatMap(({ keys, value }) => (keys.at(-1) === "content" ? Object.keys(value as object) : []));
    expect(types.filter((type) => !MEDIA_TYPES.includes(type))).to.deep.equal([]);
  });
});
