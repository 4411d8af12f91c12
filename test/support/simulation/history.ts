const LAST = 60;
const PRIME = 0x01000193;

/** Everything that happened, as a hash and as its last lines. The same seed has the same hash. */
export class History {
  private readonly last: string[] = [];
  private high = 0x811c9dc5;
  private low = 0x1234567;
  /** Where a failing run is shown, all of it. */
  lines: string[] | null = null;

  add(line: string): void {
    for (let index = 0; index < line.length; index++) {
      const code = line.charCodeAt(index);
      this.high = Math.imul(this.high ^ code, PRIME);
      this.low = Math.imul(this.low ^ code, PRIME) + 0x9e3779b9;
    }
    this.lines?.push(line);
  }

  /** What helps to understand a failure; it is in the hash too. */
  note(line: string): void {
    this.add(line);
    this.last.push(line);
    if (this.last.length > LAST) this.last.shift();
  }

  get tail(): readonly string[] {
    return this.last;
  }

  get hash(): string {
    return [this.high, this.low].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
  }
}
