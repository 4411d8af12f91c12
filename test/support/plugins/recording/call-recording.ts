import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** A submission as the provider saw it, whatever became of its response. */
export interface Submission {
  readonly providerId: string;
  readonly jobId: string;
  readonly attemptId: string;
  readonly modelId: string;
  /** The process that called. */
  readonly pid: number;
  readonly at: number;
}

/** The provider's own memory: one line of JSON for each submission, in a file that all processes share. */
export class CallRecording {
  constructor(private readonly file: string) {}

  /**
   * Before anything is answered, and before the caller can be stopped. A line is one write at the end of the file: none
   * is torn or lost.
   */
  note(submission: Submission): void {
    appendFileSync(this.file, `${JSON.stringify(submission)}\n`);
  }

  /** In the order in which they came in. */
  read(): Submission[] {
    if (!existsSync(this.file)) return [];
    const lines = readFileSync(this.file, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Submission);
  }
}
