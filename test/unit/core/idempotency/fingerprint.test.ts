import { expect } from "chai";
import fc from "fast-check";
import { NodeDigest } from "../../../../adapters/crypto/digest.js";
import { fingerprint } from "../../../../core/idempotency/fingerprint.js";

const ROUTE = "POST /api/v1/generations";

function of(json: string, route = ROUTE): ReturnType<typeof fingerprint> {
  return fingerprint(new NodeDigest(), route, JSON.parse(json));
}

/** How the fingerprints of two bodies differ. */
function compare(left: string, right: string): "same" | "values" | "shape" {
  const [a, b] = [of(left), of(right)];
  if (a.shape !== b.shape) return "shape";
  return a.body === b.body ? "same" : "values";
}

describe("fingerprint", () => {
  const cases: readonly (readonly [what: string, left: string, right: string, "same" | "values" | "shape"])[] = [
    ["white space", '{"a":1,"b":[1,2]}', ' { "a" : 1 ,\n"b":[ 1,\t2 ] } ', "same"],
    ["the order of members", '{"a":1,"b":2}', '{"b":2,"a":1}', "same"],
    ["the order of nested members", '{"a":{"x":1,"y":2}}', '{"a":{"y":2,"x":1}}', "same"],
    ["1 and 1.0", '{"a":1}', '{"a":1.0}', "same"],
    ["1000 and 1e3", '{"a":1000}', '{"a":1e3}', "same"],
    ["an escaped letter", '{"a":"b"}', '{"a":"\\u0062"}', "same"],
    ["the last of repeated members", '{"a":2}', '{"a":1,"a":2}', "same"],
    ["other text", '{"a":"x"}', '{"a":"y"}', "values"],
    ["other letter case", '{"a":"x"}', '{"a":"X"}', "values"],
    ["composed and decomposed letters", '{"a":"\u00e9"}', '{"a":"e\u0301"}', "values"],
    ["other lone surrogates", '{"a":"\\ud800"}', '{"a":"\\ud801"}', "values"],
    ["another number", '{"a":1}', '{"a":2}', "values"],
    ["true and false", '{"a":true}', '{"a":false}', "values"],
    ["the order of an array", '{"a":[1,2]}', '{"a":[2,1]}', "values"],
    ["the limits of an array's items", '{"a":[1,23]}', '{"a":[12,3]}', "values"],
    ["an array in metadata and an object with its places", '{"metadata":[1]}', '{"metadata":{"0":1}}', "shape"],
    ["the same in a nested member", '{"metadata":{"a":[1]}}', '{"metadata":{"a":{"0":1}}}', "values"],
    ["the depth of an array", '{"a":[1,["x"]]}', '{"a":[[1],"x"]}', "shape"],
    ["another length of an array of one type", '{"a":[1]}', '{"a":[1,1]}', "values"],
    ["one member more", '{"a":1}', '{"a":1,"b":1}', "shape"],
    ["another name", '{"a":1}', '{"b":1}', "shape"],
    ["a number and its text", '{"a":1}', '{"a":"1"}', "shape"],
    ["null and an absent member", '{"a":null}', "{}", "shape"],
    ["null and text", '{"a":null}', '{"a":""}', "shape"],
    ["an array and an object", '{"a":[]}', '{"a":{}}', "shape"],
    ["another type inside an array", '{"a":[1]}', '{"a":["1"]}', "shape"],
    ["a nested name", '{"a":{"x":1}}', '{"a":{"y":1}}', "shape"],
    ["a name with a slash and a nested member", '{"a":{},"a/b":1}', '{"a":{"b":1}}', "shape"],
    ["a name like an array's path", '{"a":[1]}', '{"a":{"[]":1}}', "shape"],
    ["a member called __proto__", '{"__proto__":1}', "{}", "shape"],
    ["metadata and no metadata", '{"metadata":{}}', "{}", "shape"],
    ["metadata of another type", '{"metadata":{}}', '{"metadata":null}', "shape"],
    ["another member in metadata", '{"metadata":{"a":1}}', '{"metadata":{"b":1}}', "values"],
    ["another type in metadata", '{"metadata":{"a":1}}', '{"metadata":{"a":"1"}}', "values"],
    ["more depth in metadata", '{"metadata":{"a":1}}', '{"metadata":{"a":{"b":[]}}}', "values"],
    ["the order of metadata", '{"metadata":{"a":1,"b":2}}', '{"metadata":{"b":2,"a":1}}', "same"],
    ["a nested member called metadata", '{"x":{"metadata":{"a":1}}}', '{"x":{"metadata":{"b":1}}}', "shape"],
  ];
  const verdicts = { same: "no difference", values: "another body of the same shape", shape: "another shape" };
  for (const [what, left, right, verdict] of cases) {
    it(`finds ${verdicts[verdict]} in ${what}`, () => {
      expect(compare(left, right)).to.equal(verdict);
      expect(compare(right, left)).to.equal(verdict);
    });
  }

  it("takes another route for another shape", () => {
    const [one, other] = [of('{"a":1}'), of('{"a":1}', "POST /api/v1/stems")];
    expect(one.shape).not.to.equal(other.shape);
    expect(one.body).to.equal(other.body);
  });

  it("consists of SHA-256 digests that stay the same from version to version", () => {
    expect(of('{"prompt":"rain","metadata":{"order":7}}')).to.deep.equal({
      shape: new NodeDigest().sha256(
        '["POST /api/v1/generations"," object","/\\"metadata\\" object","/\\"prompt\\" string"]',
      ),
      body: new NodeDigest().sha256('{"metadata":{"order":7},"prompt":"rain"}'),
    });
  });

  it("gives equal bodies to equal JSON values, however they are written down", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.nat(), (value, seed) => {
        expect(compare(JSON.stringify(value), JSON.stringify(shuffled(value, seed), null, seed % 3))).to.equal("same");
      }),
    );
  });

  it("gives other bodies to other JSON values", () => {
    const small = fc.jsonValue({ maxDepth: 2 });
    fc.assert(
      fc.property(small, small, (left, right) => {
        const [a, b] = [JSON.stringify(left), JSON.stringify(right)];
        expect(of(a).body === of(b).body).to.equal(isEqual(JSON.parse(a), JSON.parse(b)));
      }),
    );
  });
});

function isEqual(left: unknown, right: unknown): boolean {
  try {
    // -0 and 0 are one number in JSON.
    expect(JSON.parse(JSON.stringify(left))).to.deep.equal(JSON.parse(JSON.stringify(right)));
    return true;
  } catch {
    return false;
  }
}

/** The same value with its members in another order. */
function shuffled(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, seed));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, shuffled(member, seed)] as const);
  const cut = members.length === 0 ? 0 : seed % members.length;
  return Object.fromEntries([...members.slice(cut), ...members.slice(0, cut)].reverse());
}
