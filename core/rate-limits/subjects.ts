/** Entries looked at per call of {@link Subjects.sweep}: two, so that ended ones leave faster than new ones come. */
const SWEPT_PER_CALL = 2;

/**
 * What is kept of each subject. Beyond a number of subjects the oldest are forgotten, which favours a caller over the
 * memory of this process.
 */
export class Subjects<Entry> {
  private readonly entries = new Map<string, Entry>();
  /**
   * A live iterator: it stays where it is while entries come and go, so a sweep costs the same however many there are.
   */
  private next = this.entries.entries();

  constructor(private readonly subjectsMax: number) {}

  /** Subjects held right now, those included that no sweep has met yet. */
  get size(): number {
    return this.entries.size;
  }

  get(subject: string): Entry | undefined {
    return this.entries.get(subject);
  }

  set(subject: string, entry: Entry): void {
    this.entries.set(subject, entry);
  }

  delete(subject: string): void {
    this.entries.delete(subject);
  }

  /** Looks at a few entries and forgets those that are over. To be called for every request that is counted. */
  sweep(isOver: (entry: Entry) => boolean): void {
    for (let looked = 0; looked < SWEPT_PER_CALL; looked++) {
      const { value, done } = this.next.next();
      if (done) {
        this.next = this.entries.entries();
        return;
      }
      const [subject, entry] = value;
      if (this.entries.size > this.subjectsMax || isOver(entry)) this.entries.delete(subject);
    }
  }
}
