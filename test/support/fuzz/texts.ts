import fc from "fast-check";

/** A change of a text that others signed, or made. */
export interface TextChange {
  readonly kind: "replace" | "remove" | "insert" | "swap" | "cut" | "case" | "repeat" | "append";
  readonly place: number;
  readonly text: string;
}

const CHARACTERS = [..."ABCXYZabcxyz0189-_=+/.%&?;:~", "%00", "%2e", "..", "\u00e9"];

export const textChanges: fc.Arbitrary<TextChange[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<TextChange["kind"]>(
      ...(["replace", "replace", "remove", "insert", "swap", "cut", "case", "repeat", "append"] as const),
    ),
    place: fc.nat(400),
    text: fc.constantFrom(...CHARACTERS),
  }),
  { minLength: 1, maxLength: 3 },
);

/** A text with changes, one after the other. */
export function changedText(text: string, changes: readonly TextChange[]): string {
  return changes.reduce(applied, text);
}

function applied(text: string, { kind, place, text: other }: TextChange): string {
  const at = text.length === 0 ? 0 : place % text.length;
  const [before, here, after] = [text.slice(0, at), text.slice(at, at + 1), text.slice(at + 1)];
  switch (kind) {
    case "replace":
      return before + other + after;
    case "remove":
      return before + after;
    case "insert":
      return before + other + here + after;
    case "swap":
      return before + after.slice(0, 1) + here + after.slice(1);
    case "cut":
      return before;
    case "case":
      return before + (here === here.toLowerCase() ? here.toUpperCase() : here.toLowerCase()) + after;
    case "repeat":
      return before + here + here + after;
    case "append":
      return text + other;
  }
}
