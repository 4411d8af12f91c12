/** The tests that must notice that a guard is missing. */
export interface Concerned {
  /** From the fastest to the slowest: the first failure ends the run. */
  readonly tests: readonly string[];
  /** Of these files only the tests whose full title matches, where the others would take long. */
  readonly grep?: string;
}

/** A guard of the code, and what the code is without it. */
export interface Guard extends Concerned {
  /** What it keeps from happening, in a few words: the mutant's name. */
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** One change of one file, as data. */
export interface Mutant extends Concerned {
  readonly name: string;
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly replace: string;
}

/** @throws {Error} the text does not occur, or more than once */
export function mutantOf({ find, ...guard }: Guard, text: string): Mutant {
  const start = text.indexOf(find);
  const where = `${guard.file}: the text of the guard "${guard.name}"`;
  if (start < 0) throw new Error(`${where} does not occur.`);
  if (text.indexOf(find, start + 1) >= 0) throw new Error(`${where} occurs more than once.`);
  return { ...guard, start, end: start + find.length };
}

export function mutated(text: string, { start, end, replace }: Mutant): string {
  return text.slice(0, start) + replace + text.slice(end);
}

const STORES = "test/adapters/storage.test.ts";

/** The suites of stores, on SQLite: their statements are the same on both engines. */
export function storesNamed(...names: readonly string[]): Concerned {
  return { tests: [STORES], grep: `(${names.join("|")})( contract)?: SQLite` };
}
