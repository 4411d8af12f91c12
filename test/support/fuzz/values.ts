import fc from "fast-check";

/** Texts that parsers, databases, terminals and pages have been broken with. */
export const ODD_TEXTS: readonly string[] = [
  ...["", " ", "\u0000", "a\u0000b", "\ud800", "\udfff", "\u202egnp.exe", "e\u0301", "\ufeff", "\u2028", "\uffff"],
  ...["👩‍👩‍👧‍👦", "𝔘𝔫𝔦", "ﷺ", "İ", "ß", "Ⅷ", "\u200b", "\r\nX-Injected: 1", "\t", "\u001b[31m", "\u007f"],
  ...["../../../../etc/passwd", "..%2f..%2fetc", "/etc/passwd", "C:\\windows", "file:///etc/passwd", ".", ".."],
  ...["'", '"', "' OR 1=1 --", "1; DROP TABLE jobs", "%", "_", "\\", "`", "%00", "%zz", "%C3", "+", "*", "?", "#"],
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then", "length", "valueOf"],
  ...["<script>alert(1)</script>", "${7*7}", "{{7*7}}", "${jndi:ldap://x}", "$(id)", "|id", "&&", "[]", "{}"],
  ...["null", "undefined", "true", "NaN", "Infinity", "-0", "-1", "0x10", "1e999", "0.1", "1_000", "٣", "1,5"],
  ...["9007199254740993", "99999999999999999999999", "2026-02-30T00:00:00Z", "2026-11-25", "now", "+275760-09-13"],
  ...["job_", "job_0", "trk_01m7ysy25j6pcsftb5nnfsysak", "acct_ZZZZZZZZZZZZZZZZZZZZZZZZZZ", "a".repeat(300)],
  ...["x".repeat(5_000), "é".repeat(2_000), "👾".repeat(1_500), "-".repeat(200), "a\nb"],
];

export const ODD_NUMBERS: readonly number[] = [
  ...[0, -0, -1, 1, 0.5, -0.5, 1e-7, 1e21, 1e308, -1e308, 5e-324, 1.7976931348623157e308],
  ...[2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 2 ** 64],
  ...[100, 101, 255, 256, 65_535, 65_536, 3_600, 86_400, 1_767_225_600, 8_640_000_000_000_001],
];

export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ODD_TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 30 }) },
);

/** Any JSON value, of which few fit anywhere. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.constantFrom(...ODD_NUMBERS),
  fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { "": null }, [1, "a", {}]),
  fc.jsonValue({ maxDepth: 3 }),
  fc.tuple(fc.constantFrom(20, 200, 500), fc.boolean()).map(([depth, isList]) => nested(depth, isList)),
  fc.constantFrom(30, 1_000, 10_000).map((count) => Array.from({ length: count }, (_, index) => index)),
);

function nested(depth: number, isList: boolean): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = isList ? [value] : { a: value };
  return value;
}

/** A change of one place of a JSON value. */
export interface Change {
  /** Chooses the place, among all of the value. */
  readonly place: number;
  readonly kind: "replace" | "remove" | "add" | "repeat";
  readonly name: string;
  readonly value: unknown;
}

export const aChange: fc.Arbitrary<Change> = fc.record({
  place: fc.nat(10_000),
  kind: fc.constantFrom<Change["kind"]>("replace", "replace", "remove", "add", "repeat"),
  name: fc.oneof(fc.constantFrom("id", "status", "extra", "__proto__", "constructor", "0", ""), oddText),
  value: oddValue,
});

interface Place {
  readonly holder: Record<string, unknown> | unknown[];
  readonly name: string;
}

/** A copy of a JSON value with changes, one after the other. */
export function changed(value: unknown, changes: readonly Change[]): unknown {
  const root = { value: structuredClone(value) };
  for (const change of changes) {
    const places = placesIn(root);
    const place = places[change.place % places.length];
    if (place !== undefined) apply(change, place);
  }
  return root.value;
}

const PLACES_MAX = 2_000;

function placesIn(root: Record<string, unknown>): Place[] {
  const places: Place[] = [];
  const holders: Place["holder"][] = [root];
  for (const holder of holders) {
    for (const [name, child] of Object.entries(holder)) {
      if (places.length >= PLACES_MAX) return places;
      places.push({ holder, name });
      if (typeof child === "object" && child !== null) holders.push(child as Place["holder"]);
    }
  }
  return places;
}

function apply({ kind, name, value: given }: Change, place: Place): void {
  // Generators give the same object more than once; a change of one must not change the others.
  const value: unknown = structuredClone(given);
  const holder = place.holder as Record<string, unknown>;
  const at = holder[place.name];
  if (kind === "replace") set(holder, place.name, value);
  else if (kind === "remove" && Array.isArray(holder)) holder.splice(Number(place.name), 1);
  else if (kind === "remove") delete holder[place.name];
  else if (kind === "add" && typeof at === "object" && at !== null && !Array.isArray(at))
    set(at as Record<string, unknown>, name, value);
  else if (kind === "add") set(holder, Array.isArray(holder) ? place.name : name, value);
  else set(holder, place.name, [at, structuredClone(at)]);
}

/** As JSON.parse does it: `__proto__` is a member like any other. */
function set(holder: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}
