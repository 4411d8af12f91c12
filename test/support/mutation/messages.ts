/** Mutants of StrykerJS that no test should kill. */
import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

/** What the ignorer looks at of a place in Babel's syntax tree. */
interface Place {
  readonly node: TextNode;
  /** null: the code runs while its module is loaded. */
  getFunctionParent(): object | null;
}

interface TextNode {
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
}

/**
 * Texts of several words are messages for people: a test that repeats them checks nothing. Codes, states and names of
 * members are single words, and are mutated. Regular expressions of a module are not, since what runs only while it is
 * loaded is never tried: a mutant that is none, such as a range whose ends were swapped, would keep it from loading.
 */
const messages = {
  shouldIgnore(path: object): string | undefined {
    const place = path as Place;
    if (place.node.type === "RegExpLiteral" && place.getFunctionParent() === null) return "runs with its module";
    return /\w \w/.test(textOf(place.node)) ? "a message for people" : undefined;
  },
};

function textOf({ type, value, quasis = [] }: TextNode): string {
  if (type === "StringLiteral") return String(value);
  return type === "TemplateLiteral" ? quasis.map((part) => part.value.raw).join("") : "";
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, "messages", messages)];
