import ts from "typescript";
import { repositoryPath } from "./repository.js";
import { MAIN_ENTRY, testingEntries } from "./testing-entries.js";

/** A member of a type that users of the package see. */
export interface ApiMember {
  /** `App.accounts`, `ManageAccounts.create`. */
  readonly name: string;
  readonly documentation: string;
}

/** How deep methods are in what groups use cases: `app.library.read.search`. */
const GROUPS_DEPTH = 2;

interface UseCase {
  readonly owner: string;
  /** From the type at the top to it. */
  readonly path: readonly string[];
  readonly symbols: readonly ts.Symbol[];
}

/** The public types of the package's main entry, as the compiler knows them. */
export class ApiMembers {
  private readonly program = testingEntries().program;
  private readonly checker = this.program.getTypeChecker();

  /** Every public member of an exported type and of the use cases in it, but for its own members named `except`. */
  membersOf(type: string, except: readonly string[] = []): ApiMember[] {
    const members = new Map<string, ApiMember>();
    for (const { owner, symbols } of this.useCases(type, except)) {
      for (const symbol of symbols) {
        const name = `${owner}.${symbol.name}`;
        const documentation = ts.displayPartsToString(symbol.getDocumentationComment(this.checker));
        members.set(name, { name, documentation: documentation + this.tagsOf(symbol) });
      }
    }
    return [...members.values()];
  }

  /**
   * Where members of these names are in what the methods of an exported type, and of the use cases in it, return: paths
   * such as `jobs.show.job.fence`.
   *
   * @param except members of the type that are left out
   */
  returnedMembers(type: string, names: readonly string[], except: readonly string[] = []): string[] {
    const found = new Set<string>();
    for (const { path, symbols } of this.useCases(type, except)) {
      for (const symbol of symbols) {
        for (const signature of this.checker.getTypeOfSymbol(symbol).getCallSignatures()) {
          const at = [...path, symbol.name].join(".");
          this.walk(signature.getReturnType(), at, names, new Set(), found);
        }
      }
    }
    return [...found].sort();
  }

  /** A type, and the types of its members that have methods, and so on. */
  private useCases(type: string, except: readonly string[]): UseCase[] {
    const all: UseCase[] = [];
    const seen = new Set<ts.Type>();
    const visit = (of: ts.Type, owner: string, path: readonly string[], symbols: readonly ts.Symbol[]): void => {
      if (seen.has(of)) return;
      seen.add(of);
      all.push({ owner, path, symbols });
      for (const symbol of symbols) {
        const inner = this.checker.getTypeOfSymbol(symbol);
        if (!this.hasMethods(inner, GROUPS_DEPTH)) continue;
        visit(inner, nameOf(inner) ?? symbol.name, [...path, symbol.name], this.propertiesOf(inner));
      }
    };
    const top = this.typeOf(type);
    const own = this.propertiesOf(top).filter(({ name }) => !except.includes(name));
    visit(top, type, [], own);
    return all;
  }

  private hasMethods(type: ts.Type, depth: number): boolean {
    return this.propertiesOf(type).some((symbol) => {
      const inner = this.checker.getTypeOfSymbol(symbol);
      return inner.getCallSignatures().length > 0 || (depth > 1 && this.hasMethods(inner, depth - 1));
    });
  }

  private walk(type: ts.Type, path: string, names: readonly string[], seen: Set<ts.Type>, found: Set<string>): void {
    if (seen.has(type)) return;
    seen.add(type);
    const parts = type.isUnionOrIntersection() ? type.types : [];
    const inner = this.checker.getTypeArguments(type as ts.TypeReference);
    for (const part of [...parts, ...(isReference(type) ? inner : [])]) {
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

  /** A `@throws` or `@returns` alone says something too. */
  private tagsOf(symbol: ts.Symbol): string {
    return symbol
      .getJsDocTags(this.checker)
      .map(({ text }) => ts.displayPartsToString(text))
      .join("");
  }

  private typeOf(name: string): ts.Type {
    const source = this.program.getSourceFile(MAIN_ENTRY);
    const module = source === undefined ? undefined : this.checker.getSymbolAtLocation(source);
    const exported = module === undefined ? [] : this.checker.getExportsOfModule(module);
    const found = exported.find((symbol) => symbol.name === name);
    if (found === undefined) throw new Error(`${MAIN_ENTRY} exports no ${name}.`);
    const isAlias = (found.flags & ts.SymbolFlags.Alias) !== 0;
    return this.checker.getDeclaredTypeOfSymbol(isAlias ? this.checker.getAliasedSymbol(found) : found);
  }
}

/** The name of a class or interface; null for a type without one. */
function nameOf(type: ts.Type): string | null {
  const symbol = type.aliasSymbol ?? type.getSymbol();
  return symbol === undefined || symbol.name.startsWith("__") || symbol.name === "Pick" ? null : symbol.name;
}

function isReference(type: ts.Type): boolean {
  return ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference) !== 0;
}

function isOurs(source: ts.SourceFile): boolean {
  return source.fileName.startsWith(repositoryPath(".")) && !source.fileName.includes("/node_modules/");
}
