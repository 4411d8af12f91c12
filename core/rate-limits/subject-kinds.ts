import { Subjects } from "./subjects.js";

/**
 * What is kept of the subjects of one kind. Those with a used-up window are stored separately: only half as many others
 * like them push them out, since forgetting one would give its whole limit back.
 */
export class SubjectKind<Entry> {
  private readonly open: Subjects<Entry>;
  private readonly full: Subjects<Entry>;

  constructor(subjectsMax: number) {
    this.open = new Subjects(subjectsMax);
    this.full = new Subjects(Math.ceil(subjectsMax / 2));
  }

  /** Subjects held right now, those included that no sweep has met yet. */
  get size(): number {
    return this.open.size + this.full.size;
  }

  get(subject: string): Entry | undefined {
    return this.open.get(subject) ?? this.full.get(subject);
  }

  /** Whether the subject was set as one with a used-up window. */
  isFull(subject: string): boolean {
    return this.full.get(subject) !== undefined;
  }

  set(subject: string, entry: Entry, { isFull }: { readonly isFull: boolean }): void {
    const [into, outOf] = isFull ? [this.full, this.open] : [this.open, this.full];
    outOf.delete(subject);
    into.set(subject, entry);
  }

  /** Looks at a few entries and forgets those that are over. To be called for every {@link set}. */
  sweep(isOver: (entry: Entry) => boolean): void {
    this.open.sweep(isOver);
    this.full.sweep(isOver);
  }
}

/**
 * What is kept of each subject, each kind by itself: `read acct_1` is of the kind `read`. Many subjects of one kind,
 * such as networks that fail to authenticate, push out none of another.
 */
export class SubjectKinds<Entry> {
  private readonly kinds = new Map<string, SubjectKind<Entry>>();

  /** @param subjectsMax of one kind, and half as many more whose windows are used up */
  constructor(private readonly subjectsMax: number) {}

  /** Subjects held right now, those included that no sweep has met yet. */
  get size(): number {
    let size = 0;
    for (const kind of this.kinds.values()) size += kind.size;
    return size;
  }

  /** The kind of a subject: the word before its first blank; subjects without one are of one kind. */
  of(subject: string): SubjectKind<Entry> {
    const name = subject.slice(0, Math.max(0, subject.indexOf(" ")));
    let kind = this.kinds.get(name);
    if (kind === undefined) this.kinds.set(name, (kind = new SubjectKind(this.subjectsMax)));
    return kind;
  }
}
