import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { repositoryPath } from "../repository.js";
import type { Concerned, Mutant } from "./guard.js";

/** Files or folders with guards of one shape, each with the tests that concern it. */
export type Places = Readonly<Record<string, Concerned>>;

/** A change of a text, before it is known which tests concern it. */
type Change = Pick<Mutant, "name" | "start" | "end" | "replace">;

/** Conditions of statements that say whose a row is, and whether another worker has it. */
export function conditionMutants(places: Places): Mutant[] {
  const condition = /(?<=(?:WHERE|AND|ON|\bwhere:| = \[| =) ?"?\(?)((?:\w\.)?(?:account_id|fence|lease_owner)) = \?/g;
  return mutantsIn(places, (text) =>
    [...text.matchAll(condition)].map((match) => ({
      name: `condition ${match[0]}${ofTable(text.slice(0, match.index))}`,
      start: match.index,
      end: match.index + match[0].length,
      replace: `(1 = 1 OR ${match[0]})`,
    })),
  );
}

/** The table that was named last in the line. */
function ofTable(before: string): string {
  const [, table] = /.*(?<!\$)\{(\w+)\}.*$/.exec(before) ?? [];
  return table === undefined ? "" : ` of ${table}`;
}

/** Indexes of migrations that keep a second row from being there. */
export function uniqueIndexMutants(places: Places): Mutant[] {
  return mutantsIn(places, (text) =>
    [...text.matchAll(/\.unique\(|unique: true/g)].map((match) => ({
      name: "unique index",
      start: match.index,
      end: match.index + match[0].length,
      replace: match[0] === ".unique(" ? ".index(" : "unique: false",
    })),
  );
}

/** What operations need of their caller: the first of each need, since one test goes through all operations. */
export function scopeMutants(places: Places): Mutant[] {
  const route = /method: "(\w+)",\s+path: "([^"]+)",\s+security: \[\{"\w+":\["([^"]+)"\]/g;
  const mutants = mutantsIn(places, (text) => {
    const firsts = new Map<string, Change>();
    for (const { 0: whole, 1: method = "", 2: path = "", 3: need = "", index } of text.matchAll(route)) {
      const start = index + whole.lastIndexOf(need);
      const name = `scope ${need} of ${method.toUpperCase()} ${path}`;
      if (!firsts.has(need)) firsts.set(need, { name, start, end: start + need.length, replace: lessThan(need) });
    }
    return [...firsts.values()];
  });
  // Every admin token may read.
  return mutants.filter(({ name }) => !name.startsWith("scope read "));
}

/** Another scope, or the least role. */
function lessThan(need: string): string {
  if (need === "operate" || need === "owner") return "read";
  return need === "profile:read" ? "models:read" : "profile:read";
}

/** `if (…) throw …`, and `if (…) return …` with a `throw` behind it: what is refused without them. */
export function refusalMutants(places: Places): Mutant[] {
  return mutantsIn(places, (text) => {
    const changes: Change[] = [];
    const source = ts.createSourceFile("guards.ts", text, ts.ScriptTarget.ES2023, true);
    const add = ({ expression }: ts.IfStatement, replace: string): void => {
      const words = expression.getText().replace(/\s+/g, " ");
      changes.push({ name: `refusal ${words}`, start: expression.getStart(), end: expression.getEnd(), replace });
    };
    const visit = (node: ts.Node): void => {
      if (ts.isIfStatement(node) && isThrow(only(node.thenStatement))) add(node, "false");
      if (ts.isBlock(node)) {
        const [before, last] = node.statements.slice(-2);
        const isRefusal = before !== undefined && isThrow(last) && ts.isIfStatement(before) && !isRethrow(last);
        if (isRefusal && ts.isReturnStatement(only(before.thenStatement))) add(before, "true");
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return changes;
  });
}

/** The statement of a block of one. */
function only(node: ts.Statement): ts.Statement {
  const [first] = ts.isBlock(node) ? node.statements : [];
  return first !== undefined && ts.isBlock(node) && node.statements.length === 1 ? first : node;
}

function isThrow(node: ts.Node | undefined): node is ts.ThrowStatement {
  return node !== undefined && ts.isThrowStatement(node) && !isRethrow(node);
}

/** An error that was caught and is of another kind refuses nothing. */
function isRethrow(node: ts.ThrowStatement): boolean {
  return ["error", "cause"].includes(node.expression.getText());
}

function mutantsIn(places: Places, changesOf: (text: string) => readonly Change[]): Mutant[] {
  return Object.entries(places).flatMap(([place, concerned]) =>
    filesOf(place).flatMap((file) =>
      changesOf(readFileSync(repositoryPath(file), "utf8")).map((change) => ({ ...change, file, ...concerned })),
    ),
  );
}

function filesOf(place: string): string[] {
  if (place.endsWith(".ts")) return [place];
  const names = readdirSync(repositoryPath(place), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${place}/${name}`)
    .sort();
}
