import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { repositoryPath } from "./repository.js";

/** What the doc comment of a port says about the adapter that takes its place. */
export interface PortDocs {
  /** The setting of "Selected by `…`", as `describeSettings` spells it; null: there is no such sentence. */
  readonly selectedBy: string | null;
  /** The override of "the override `…` of `compose`"; null: none. */
  readonly override: string | null;
}

export function parseSource(...parts: readonly string[]): ts.SourceFile {
  const path = repositoryPath(...parts);
  return ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
}

/** The sources of the ports, those of the plugin port included. */
export function portSources(): ts.SourceFile[] {
  const names = readdirSync(repositoryPath("core/ports"), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts")).map((name) => parseSource(join("core/ports", name)));
}

/** The docs of each interface of a source, by name. */
export function portDocs(source: ts.SourceFile): Map<string, PortDocs> {
  const interfaces = source.statements.filter(ts.isInterfaceDeclaration);
  return new Map(interfaces.map((declared) => [declared.name.text, readDocs(descriptionOf(declared))]));
}

/** The sentences of a doc comment, without its tags. */
function descriptionOf(node: ts.Node): string {
  const comments = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return comments.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "").join(" ");
}

function readDocs(description: string): PortDocs {
  const text = description.replace(/\s+/g, " ");
  return {
    selectedBy: /\bSelected by `([^`]+)`/.exec(text)?.[1]?.replace("<id>", "ID") ?? null,
    override: /\bthe override `([^`]+)` of `compose`/.exec(text)?.[1] ?? null,
  };
}

/** The interface behind each member of an interface, in its order: of a function what it returns, of `X | null` X. */
export function memberTypes(source: ts.SourceFile, name: string): Map<string, string> {
  const declared = source.statements.filter(ts.isInterfaceDeclaration).find((found) => found.name.text === name);
  if (declared === undefined) throw new Error(`${source.fileName} declares no interface ${name}.`);
  const members = declared.members.filter(ts.isPropertySignature);
  return new Map(members.map((member) => [member.name.getText(source), namedType(member.type)]));
}

/**
 * The tables of a source by which a setting selects an adapter (`Readonly<Record<KEYS, FUNCTION>>`): the port that the
 * functions return, and the keys as they are written.
 */
export function selectionTables(source: ts.SourceFile): { readonly port: string; readonly keys: string }[] {
  const aliases = new Map(
    source.statements.filter(ts.isTypeAliasDeclaration).map((alias) => [alias.name.text, alias.type]),
  );
  return source.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) =>
    declarationList.declarations.flatMap(({ type }) => {
      const record = argumentsOf(argumentsOf(type, "Readonly")[0], "Record");
      const [keys, value] = record;
      if (keys === undefined || value === undefined) return [];
      const open = ts.isTypeReferenceNode(value) ? aliases.get(value.getText(source)) : value;
      return open !== undefined && ts.isFunctionTypeNode(open)
        ? [{ port: namedType(open), keys: keys.getText(source) }]
        : [];
    }),
  );
}

function argumentsOf(type: ts.TypeNode | undefined, name: string): readonly ts.TypeNode[] {
  if (type === undefined || !ts.isTypeReferenceNode(type) || type.typeName.getText() !== name) return [];
  return type.typeArguments ?? [];
}

function namedType(type: ts.TypeNode | undefined): string {
  if (type === undefined) return "";
  if (ts.isFunctionTypeNode(type)) return namedType(type.type);
  if (ts.isUnionTypeNode(type)) return namedType(type.types[0]);
  const [promised] = argumentsOf(type, "Promise");
  return promised === undefined ? type.getText() : namedType(promised);
}
