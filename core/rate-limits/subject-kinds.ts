import { Subjects } from "./subjects.js";

interface Kind<Entry> {
  /** Those whose windows all have capacity. */
  readonly open: Subjects<Entry>;
  /** Those with a window that is used up. */
  readonly full: Subjects<Entry>;
}

/**
 * What is kept of each subject, each kind by itself: `read acct_1` is of the kind `read`. Many subjects of one kind,
 * such as networks that fail to authenticate, push out none of another. Those with a used-up window are stored
 * separately too: only half as many others like them push them out, since forgetting one would give its whole limit
 * back.
 */
export class SubjectKinds<Entry> {
  private readonly kinds = new Map<string, Kind<Entry>>();

  /** @param subjectsMax of one kind, and half as many more whose windows are used up */
  constructor(private readonly subjectsMax: number) {}

  /** Subjects held right now, those included that no sweep has met yet. */
  get size(): number {
    let size = 0;
    for (const { open, full } of this.kinds.values()) size += open.size + full.size;
    return size;
  }

  get(subject: string): Entry | undefined {
    const kind = this.kinds.get(kindOf(subject));
    return kind?.open.get(subject) ?? kind?.full.get(subject);
  }

  /** Whether the subject was set as one with a used-up window. */
  isFull(subject: string): boolean {
    return this.kinds.get(kindOf(subject))?.full.get(subject) !== undefined;
  }

  set(subject: string, entry: Entry, { isFull }: { readonly isFull: boolean }): void {
    const { open, full } = this.kindOf(subject);
    const [into, outOf] = isFull ? [full, open] : [open, full];
    outOf.delete(subject);
    into.set(subject, entry);
  }

  /**
   * Looks at a few entries of the subject's kind and forgets those that are over. To be called for every {@link set}.
   */
  sweep(subject: string, isOver: (entry: Entry) => boolean): void {
    const { open, full } = this.kindOf(subject);
    open.sweep(isOver);
    full.sweep(isOver);
  }

  private kindOf(subject: string): Kind<Entry> {
    const name = kindOf(subject);
    let kind = this.kinds.get(name);
    if (kind === undefined) {
      kind = { open: new Subjects(this.subjectsMax), full: new Subjects(Math.ceil(this.subjectsMax / 2)) };
      this.kinds.set(name, kind);
    }
    return kind;
  }
}

/** The word before the first blank; subjects without one are of one kind. */
function kindOf(subject: string): string {
  return subject.slice(0, Math.max(0, subject.indexOf(" ")));
}
