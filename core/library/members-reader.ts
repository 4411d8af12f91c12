/** One thing wrong with an import. `path` is as in `tracks[3].tags.mood[0]`; empty for the whole. */
export interface ImportIssue {
  readonly path: string;
  readonly message: string;
}

/** Everything that is wrong with an import, in the order in which it was found. */
export class Issues {
  readonly found: ImportIssue[] = [];

  add(path: string, message: string): void {
    this.found.push({ path, message });
  }
}

/** A line of a list, and its path. */
export interface Entry {
  readonly text: string;
  readonly path: string;
}

interface Optional {
  readonly isOptional: boolean;
}

const REQUIRED: Optional = { isOptional: false };
const CONTROL = /\p{Cc}/u;

/**
 * Reads the members of a JSON object, one after the other, and collects their issues. An optional member may be null.
 */
export class MembersReader {
  private constructor(
    private readonly members: { readonly [name: string]: unknown },
    private readonly path: string,
    private readonly issues: Issues,
  ) {}

  /** @returns null when the value is no object */
  static of(value: unknown, path: string, known: readonly string[], issues: Issues): MembersReader | null {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      issues.add(path, "must be a JSON object");
      return null;
    }
    const reader = new MembersReader(value as { readonly [name: string]: unknown }, path, issues);
    for (const name of Object.keys(value)) {
      if (!known.includes(name))
        issues.add(reader.pathOf(name), `is not a known member; known are ${known.join(", ")}`);
    }
    return reader;
  }

  pathOf(name: string): string {
    const shown = /^\w{1,100}$/.test(name) ? name : JSON.stringify(name.slice(0, 100));
    return this.path === "" ? shown : `${this.path}.${shown}`;
  }

  has(name: string): boolean {
    return this.value(name) !== undefined && this.value(name) !== null;
  }

  value(name: string): unknown {
    return Object.hasOwn(this.members, name) ? this.members[name] : undefined;
  }

  /** Text of 1 to `lengthMax` code points that is not blank; null when it is missing or has an issue. */
  text(name: string, lengthMax: number, { isOptional } = REQUIRED): string | null {
    if (this.has(name)) return this.checked(this.value(name), this.pathOf(name), lengthMax);
    if (!isOptional) this.issues.add(this.pathOf(name), "is required");
    return null;
  }

  /** {@link text} in one line. */
  line(name: string, lengthMax: number, optional = REQUIRED): string | null {
    return this.inOneLine(this.text(name, lengthMax, optional), this.pathOf(name));
  }

  /** Lines of text; none when they are missing. */
  lines(name: string, lengthMax: number, countMax: number, { isOptional } = REQUIRED): string[] {
    return this.entries(name, lengthMax, countMax, { isOptional }).map(({ text }) => text);
  }

  /** {@link lines}, each with its path. */
  entries(name: string, lengthMax: number, countMax: number, { isOptional } = REQUIRED): Entry[] {
    if (!this.has(name) && !isOptional) this.issues.add(this.pathOf(name), "is required");
    const entries = this.list(name, (value, path): Entry | null => {
      const text = this.inOneLine(this.checked(value, path, lengthMax), path);
      return text === null ? null : { text, path };
    });
    if (entries.length > countMax)
      this.issues.add(this.pathOf(name), `must have at most ${countMax} entries; got ${entries.length}`);
    return entries;
  }

  /** A number above 0; null when it is missing or has an issue. */
  number(name: string, maximum: number): number | null {
    if (!this.has(name)) return null;
    const value = this.value(name);
    if (typeof value === "number" && value > 0 && value <= maximum) return value;
    this.issues.add(this.pathOf(name), `must be a number above 0, at most ${maximum}`);
    return null;
  }

  choice<const Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice {
    const found = choices.find((choice) => choice === this.value(name));
    if (found === undefined)
      this.issues.add(this.pathOf(name), this.has(name) ? `must be ${choices.join(" or ")}` : "is required");
    return found ?? choices[0];
  }

  /** What `read` makes of each entry, without those it makes null of; empty when the list is missing. */
  list<T>(name: string, read: (value: unknown, path: string) => T | null): T[] {
    if (!this.has(name)) return [];
    const value = this.value(name);
    if (Array.isArray(value))
      return value.flatMap((entry, index) => read(entry, `${this.pathOf(name)}[${index}]`) ?? []);
    this.issues.add(this.pathOf(name), "must be a list");
    return [];
  }

  private checked(value: unknown, path: string, lengthMax: number): string | null {
    const issue = textIssue(value, lengthMax);
    if (issue === null) return value as string;
    this.issues.add(path, issue);
    return null;
  }

  private inOneLine(text: string | null, path: string): string | null {
    if (text === null || !CONTROL.test(text)) return text;
    this.issues.add(path, "must be one line, without control characters");
    return null;
  }
}

function textIssue(value: unknown, lengthMax: number): string | null {
  if (typeof value !== "string") return "must be a string";
  const length = [...value].length;
  if (length < 1 || length > lengthMax) return `must have 1 to ${lengthMax} characters; got ${length}`;
  if (value.trim() === "") return "must not be blank";
  return value.isWellFormed() ? null : "must be well-formed Unicode";
}
