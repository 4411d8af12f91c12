import fc from "fast-check";
import type { Schema } from "../../../adapters/http/openapi/model.js";

type Schemas = Readonly<Record<string, Schema>>;

/** What a member of a name may be, where its schema says too little for a value that is accepted. */
export type Samples = Readonly<Record<string, readonly unknown[]>>;

const LIST_MAX = 4;
const TEXT_MAX = 40;

/** Values that fit a schema of the API's description. */
export function valuesOf(schema: Schema, schemas: Schemas, samples: Samples, name = ""): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (Object.hasOwn(samples, name)) return fc.constantFrom(...(samples[name] ?? []));
  if (schema.$ref !== undefined) {
    const found = schemas[schema.$ref.replace("#/components/schemas/", "")];
    if (found === undefined) throw new Error(`${schema.$ref} leads nowhere.`);
    return valuesOf(found, schemas, samples, name);
  }
  const parts = schema.anyOf ?? schema.allOf;
  if (parts !== undefined) return fc.oneof(...parts.map((part) => valuesOf(part, schemas, samples, name)));
  const types = [schema.type ?? "object"].flat();
  return fc.oneof(...types.map((type) => valuesOfType(type, schema, schemas, samples, name)));
}

function valuesOfType(
  type: string,
  schema: Schema,
  schemas: Schemas,
  samples: Samples,
  name: string,
): fc.Arbitrary<unknown> {
  const { minimum, maximum, items = {} } = schema;
  switch (type) {
    case "object":
      return objects(schema, schemas, samples);
    case "array":
      return fc.array(valuesOf(items, schemas, samples, name), { maxLength: LIST_MAX });
    case "integer":
      return fc.integer({ min: minimum ?? 0, max: maximum ?? 300 });
    case "number":
      return fc.double({ min: minimum ?? 0, max: maximum ?? 200, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return texts(schema);
  }
}

function texts({ format, minLength = 0, maxLength = TEXT_MAX }: Schema): fc.Arbitrary<string> {
  if (format === "date-time")
    return fc
      .date({ min: new Date("2020-01-01"), max: new Date("2030-01-01"), noInvalidDate: true })
      .map((date) => date.toISOString());
  return fc.string({ minLength, maxLength: Math.min(maxLength, TEXT_MAX) });
}

function objects(schema: Schema, schemas: Schemas, samples: Samples): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = Object.entries(properties).map(
    ([name, member]) => [name, valuesOf(member, schemas, samples, name)] as const,
  );
  if (members.length > 0) {
    const given = members.map(([name, member]) =>
      required.includes(name) ? member.map((value) => [name, value] as const) : optional(name, member),
    );
    return fc.tuple(...given).map((all) => Object.fromEntries(all.filter((one) => one !== null)) as unknown);
  }
  if (additionalProperties === undefined || additionalProperties === false) return fc.constant({});
  return fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: LIST_MAX,
    noNullPrototype: true,
  });
}

/** Mostly left out: each brings rules of its own, and values that keep all of them would be rare. */
function optional(name: string, member: fc.Arbitrary<unknown>): fc.Arbitrary<readonly [string, unknown] | null> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: member.map((value) => [name, value] as const) },
  );
}
