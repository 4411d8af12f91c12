import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join } from "node:path";
import ts from "typescript";
import { repositoryPath } from "./repository.js";

/** The entries of the package that tests of other packages import, by the name that they import. */
export const TESTING_ENTRIES = {
  "fermata-music/testing": repositoryPath("test/index.ts"),
  "fermata-music/testing/contracts": repositoryPath("test/contracts.ts"),
} as const;

/** What an embedding app imports: `fermata-music`. */
export const MAIN_ENTRY = repositoryPath("config/index.ts");

/** The other entries that declare types: `fermata-music`, `fermata-music/provider`. */
const OTHER_ENTRIES = [MAIN_ENTRY, repositoryPath("plugins/sdk/index.ts")];

const ALL_ENTRIES = [...Object.values(TESTING_ENTRIES), ...OTHER_ENTRIES];

/** Imports and exports that are there at run time. */
const RUNTIME_IMPORT = /^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm;
const DYNAMIC_IMPORT = /\bimport\("([^"]+)"\)/g;

/** What a file and every file of ours that it loads need of other packages. */
export interface Libraries {
  /** Without them the file cannot be imported. */
  readonly loaded: ReadonlySet<string>;
  /** Imported by a function when it is called. */
  readonly later: ReadonlySet<string>;
}

export function librariesOf(entry: string): Libraries {
  const [loaded, later, seen] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const pending = [entry];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const text = readFileSync(path, "utf8");
    for (const [, name = ""] of text.matchAll(RUNTIME_IMPORT)) {
      const file = join(dirname(path), name).replace(/\.js$/, ".ts");
      if (!name.startsWith(".")) loaded.add(packageOf(name));
      else if (existsSync(file)) pending.push(file);
    }
    for (const [, name = ""] of text.matchAll(DYNAMIC_IMPORT)) if (!name.startsWith(".")) later.add(packageOf(name));
  }
  for (const names of [loaded, later]) for (const name of names) if (isBuiltin(name)) names.delete(name);
  return { loaded, later };
}

function packageOf(name: string): string {
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/");
}

function isBuiltin(name: string): boolean {
  return name.startsWith("node:") || builtinModules.includes(name);
}

/** An export of an entry, with its documentation. */
export interface EntryExport {
  readonly name: string;
  /** Whether it is a function or a class, which an example can show in use. */
  readonly isUsable: boolean;
  readonly documentation: string;
  readonly examples: readonly string[];
}

let shared: TestingEntries | undefined;

/** Those of this process: the compiler takes seconds for them. */
export function testingEntries(): TestingEntries {
  return (shared ??= new TestingEntries());
}

/** The sources of the entries, read once, and what the compiler knows of them. */
export class TestingEntries {
  private readonly options = compilerOptions();
  readonly program = ts.createProgram(ALL_ENTRIES, this.options);
  private readonly checker = this.program.getTypeChecker();

  exportsOf(entry: string): EntryExport[] {
    return this.symbolsOf(entry).map((symbol) => {
      const tags = symbol.getJsDocTags(this.checker).filter(({ name }) => name === "example");
      return {
        name: symbol.name,
        isUsable: this.isUsable(symbol),
        documentation: ts.displayPartsToString(symbol.getDocumentationComment(this.checker)),
        examples: tags.map(({ text }) => ts.displayPartsToString(text)),
      };
    });
  }

  /**
   * The types of this tree that signatures and members of an entry's exports mention, and that no entry exports.
   *
   * @param within the entries that may export them; all by default
   * @param isOf whether the exports that are declared in this file count; all by default
   */
  unexportedTypes(entry: string, within = ALL_ENTRIES, isOf: (file: string) => boolean = () => true): string[] {
    const exported = new Set(within.flatMap((path) => this.symbolsOf(path)));
    const missing = new Set<string>();
    const seen = new Set<ts.Symbol>();
    const visit = (owner: string, node: ts.Node): void => {
      for (const reference of typeNamesIn(node)) {
        const symbol = this.resolved(this.checker.getSymbolAtLocation(reference));
        const [declaration] = symbol?.declarations ?? [];
        if (symbol === undefined || declaration === undefined) continue;
        if (ts.isTypeParameterDeclaration(declaration) || !isOurs(declaration.getSourceFile())) continue;
        if (isExported(declaration) && !exported.has(symbol)) missing.add(`${owner}: ${symbol.name}`);
        else if (!seen.has(symbol)) {
          // What a type mentions counts too, whether it has a name outside its file or not.
          seen.add(symbol);
          for (const part of symbol.declarations ?? []) visit(owner, part);
        }
      }
    };
    for (const symbol of this.symbolsOf(entry)) {
      const declarations = symbol.declarations?.filter((declaration) => isOf(declaration.getSourceFile().fileName));
      for (const declaration of declarations ?? []) visit(symbol.name, declaration);
    }
    return [...missing].sort();
  }

  /** The compiler's errors for code that uses exports of all entries without importing them, a line each. */
  errorsOf(codes: readonly string[]): string[] {
    const files = new Map(
      codes.map((code, index) => [repositoryPath(`test/example-${index}.ts`), this.withImports(code)] as const),
    );
    const host = ts.createCompilerHost(this.options);
    const { fileExists, readFile, getSourceFile } = host;
    host.fileExists = (path) => files.has(path) || fileExists(path);
    host.readFile = (path) => files.get(path) ?? readFile(path);
    host.getSourceFile = (path, version, ...more) => {
      const text = files.get(path);
      return text === undefined
        ? (this.program.getSourceFile(path) ?? getSourceFile(path, version, ...more))
        : ts.createSourceFile(path, text, version);
    };
    const program = ts.createProgram([...files.keys()], this.options, host, this.program);
    return [...files].flatMap(([path, text]) =>
      ts
        .getPreEmitDiagnostics(program, program.getSourceFile(path))
        .map(({ messageText }) => `${ts.flattenDiagnosticMessageText(messageText, "\n")} in\n${text}`),
    );
  }

  private withImports(code: string): string {
    const words = new Set(code.match(/\w+/g));
    for (const [, own = ""] of code.matchAll(/\b(?:const|function) (\w+)/g)) words.delete(own);
    const imports = [...Object.values(TESTING_ENTRIES), OTHER_ENTRIES[0] as string].map((path) => {
      const names = this.symbolsOf(path).map(({ name }) => name);
      const used = names.filter((name) => words.delete(name));
      return used.length === 0 ? "" : `import { ${used.join(", ")} } from "${path.replace(/\.ts$/, ".js")}";\n`;
    });
    return `import assert from "node:assert/strict";\n${imports.join("")}${code}\nexport {};\n`;
  }

  private symbolsOf(entry: string): ts.Symbol[] {
    const source = this.program.getSourceFile(entry);
    const symbol = source === undefined ? undefined : this.checker.getSymbolAtLocation(source);
    if (symbol === undefined) throw new Error(`${entry} is no module.`);
    return this.checker.getExportsOfModule(symbol).flatMap((exported) => this.resolved(exported) ?? []);
  }

  private resolved(symbol: ts.Symbol | undefined): ts.Symbol | undefined {
    const isAlias = symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    return isAlias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  private isUsable(symbol: ts.Symbol): boolean {
    if ((symbol.flags & ts.SymbolFlags.Value) === 0) return false;
    const type = this.checker.getTypeOfSymbol(symbol);
    return type.getCallSignatures().length + type.getConstructSignatures().length > 0;
  }
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(repositoryPath("tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repositoryPath("."));
  // An example may leave a variable unused, and mixes types with values in its imports.
  const lenient = { noUnusedLocals: false, verbatimModuleSyntax: false };
  return { ...options, ...lenient, noEmit: true, incremental: false, composite: false };
}

function isOurs(source: ts.SourceFile): boolean {
  return source.fileName.startsWith(repositoryPath(".")) && !source.fileName.includes("/node_modules/");
}

function isExported(declaration: ts.Declaration): boolean {
  return (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Export) !== 0;
}

/** The names of types in a declaration as its users see it: without bodies and private members. */
function typeNamesIn(node: ts.Node): ts.EntityName[] {
  const names: ts.EntityName[] = [];
  const visit = (part: ts.Node): void => {
    if (ts.isBlock(part) || isPrivate(part)) return;
    if (ts.isTypeReferenceNode(part)) names.push(part.typeName);
    if (ts.isExpressionWithTypeArguments(part) && ts.isIdentifier(part.expression)) names.push(part.expression);
    const initializer = (part as Partial<ts.HasExpressionInitializer>).initializer;
    ts.forEachChild(part, (child) => {
      if (child !== initializer) visit(child);
    });
  };
  visit(node);
  return names;
}

function isPrivate(node: ts.Node): boolean {
  return (
    ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
  );
}
