import ts from "typescript";
import { repositoryPath } from "./repository.js";

/** A member of a type that users of the package see. */
export interface ApiMember {
  /** `App.accounts`, `ManageAccounts.create`. */
  readonly name: string;
  readonly documentation: string;
}

/** The public types of the package's main entry, as the compiler knows them. */
export class ApiMembers {
  private readonly program: ts.Program;
  private readonly checker: ts.TypeChecker;

  constructor(private readonly entry = repositoryPath("config/index.ts")) {
    const { config } = ts.readConfigFile(repositoryPath("tsconfig.json"), (path) => ts.sys.readFile(path)) as {
      config: object;
    };
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repositoryPath("."));
    this.program = ts.createProgram([entry], { ...options, noEmit: true, incremental: false, composite: false });
    this.checker = this.program.getTypeChecker();
  }

  /** Every public member of an exported type, and of the types of its members, but for those named `except`. */
  membersOf(type: string, except: readonly string[] = []): ApiMember[] {
    const top = this.typeOf(type);
    const groups = this.propertiesOf(top).filter(({ name }) => !except.includes(name));
    const members = new Map<string, ApiMember>();
    const add = (owner: string, symbol: ts.Symbol): void => {
      const name = `${owner}.${symbol.name}`;
      const documentation = ts.displayPartsToString(symbol.getDocumentationComment(this.checker));
      members.set(name, { name, documentation: documentation + this.tagsOf(symbol) });
    };
    for (const group of groups) {
      add(type, group);
      const { symbol, owner } = this.ownerOf(group);
      if (symbol === null) continue;
      for (const member of this.propertiesOf(this.checker.getTypeOfSymbol(group))) add(owner, member);
    }
    return [...members.values()];
  }

  /**
   * Where members of these names are in what the methods of an exported type, and of its members, return: paths such as
   * `jobs.show → JobReport.job.fence`.
   *
   * @param except members of the type that are left out
   */
  returnedMembers(type: string, names: readonly string[], except: readonly string[] = []): string[] {
    const found = new Set<string>();
    const look = (path: string, symbol: ts.Symbol): void => {
      for (const signature of this.checker.getTypeOfSymbol(symbol).getCallSignatures()) {
        this.walk(signature.getReturnType(), path, names, new Set(), found);
      }
    };
    for (const group of this.propertiesOf(this.typeOf(type))) {
      if (except.includes(group.name)) continue;
      look(group.name, group);
      for (const member of this.propertiesOf(this.checker.getTypeOfSymbol(group))) {
        look(`${group.name}.${member.name}`, member);
      }
    }
    return [...found].sort();
  }

  private walk(type: ts.Type, path: string, names: readonly string[], seen: Set<ts.Type>, found: Set<string>): void {
    if (seen.has(type)) return;
    seen.add(type);
    const parts = type.isUnionOrIntersection() ? type.types : [];
    const inner = this.checker.getTypeArguments(type as ts.TypeReference);
    for (const part of [...parts, ...(isReference(type) ? inner : []), ...(type.aliasTypeArguments ?? [])]) {
      this.walk(part, path, names, seen, found);
    }
    for (const property of this.propertiesOf(type)) {
      const at = `${path}.${property.name}`;
      if (names.includes(property.name)) found.add(at);
      else this.walk(this.checker.getTypeOfSymbol(property), at, names, seen, found);
    }
  }

  /** Public members that this repository declares. */
  private propertiesOf(type: ts.Type): ts.Symbol[] {
    return this.checker.getPropertiesOfType(type).filter((symbol) => {
      const [declaration] = symbol.declarations ?? [];
      if (declaration === undefined || !isOurs(declaration.getSourceFile())) return false;
      const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
      return (ts.getCombinedModifierFlags(declaration) & hidden) === 0 && !symbol.name.startsWith("__");
    });
  }

  private ownerOf(group: ts.Symbol): { readonly symbol: ts.Symbol | null; readonly owner: string } {
    const type = this.checker.getTypeOfSymbol(group);
    const symbol = type.aliasSymbol ?? type.getSymbol() ?? null;
    const isNamed = symbol !== null && !symbol.name.startsWith("__");
    return { symbol, owner: isNamed && symbol.name !== "Pick" ? symbol.name : group.name };
  }

  /** A `@throws` or `@returns` alone says something too. */
  private tagsOf(symbol: ts.Symbol): string {
    return symbol
      .getJsDocTags(this.checker)
      .map(({ text }) => ts.displayPartsToString(text))
      .join("");
  }

  private typeOf(name: string): ts.Type {
    const source = this.program.getSourceFile(this.entry);
    const module = source === undefined ? undefined : this.checker.getSymbolAtLocation(source);
    const exported = module === undefined ? [] : this.checker.getExportsOfModule(module);
    const found = exported.find((symbol) => symbol.name === name);
    if (found === undefined) throw new Error(`${this.entry} exports no ${name}.`);
    const isAlias = (found.flags & ts.SymbolFlags.Alias) !== 0;
    return this.checker.getDeclaredTypeOfSymbol(isAlias ? this.checker.getAliasedSymbol(found) : found);
  }
}

function isReference(type: ts.Type): boolean {
  return ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference) !== 0;
}

function isOurs(source: ts.SourceFile): boolean {
  return source.fileName.startsWith(repositoryPath(".")) && !source.fileName.includes("/node_modules/");
}
