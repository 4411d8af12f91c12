/** Mutants of StrykerJS that no test should kill. */
import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

/** What the ignorer looks at of a node of Babel's syntax tree. */
interface TextNode {
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
}

/**
 * Texts of several words are messages for people: a test that repeats them checks nothing. Codes, states and names of
 * members are single words, and are mutated.
 */
const messages = {
  shouldIgnore(path: object): string | undefined {
    const { node } = path as { readonly node: TextNode };
    return /\w \w/.test(textOf(node)) ? "a message for people" : undefined;
  },
};

function textOf({ type, value, quasis = [] }: TextNode): string {
  if (type === "StringLiteral") return String(value);
  return type === "TemplateLiteral" ? quasis.map((part) => part.value.raw).join("") : "";
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, "messages", messages)];
