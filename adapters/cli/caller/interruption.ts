import type { CliHost } from "../host.js";

/** What becomes of a job whose command is interrupted. */
export const INTERRUPT_CHOICES = ["cancel", "leave"] as const;

export type InterruptChoice = (typeof INTERRUPT_CHOICES)[number];

const QUESTION = "Cancel the job, or leave it running? A second Ctrl-C leaves it running. [c/l] ";

/**
 * Listens for Ctrl-C while a command works on a job. The first one asks what becomes of the job, unless that was said
 * beforehand; where there is no terminal to ask on, the job is left running. The second leaves it at once. SIGTERM does
 * not ask.
 */
export class Interruption {
  /** What is to become of the job. Resolves at an interruption only. */
  readonly chosen: Promise<InterruptChoice>;
  /** Resolves when the command is to end at once. */
  readonly left: Promise<void>;
  private readonly asking = new AbortController();
  private readonly forget: () => void;
  private choose!: (choice: InterruptChoice) => void;
  private leave!: () => void;
  private count = 0;

  /**
   * @param beforehand the choice, so that nothing is asked
   * @param onAsk called before the question is shown
   */
  constructor(
    private readonly host: Pick<CliHost, "caller">,
    private readonly beforehand: InterruptChoice | undefined,
    private readonly onAsk: () => void,
  ) {
    this.chosen = new Promise((resolve) => (this.choose = resolve));
    this.left = new Promise((resolve) => (this.leave = resolve));
    this.forget = host.caller.onInterrupt((signal) => this.interrupt(signal));
  }

  /** Whether a signal came. */
  get isInterrupted(): boolean {
    return this.count > 0;
  }

  end(): void {
    this.asking.abort();
    this.forget();
  }

  private interrupt(signal: "SIGINT" | "SIGTERM"): void {
    this.count += 1;
    if (this.count > 1) return this.leaveNow();
    if (this.beforehand === "cancel") return this.choose("cancel");
    const { ask } = this.host.caller;
    if (this.beforehand === "leave" || ask === null || signal === "SIGTERM") return this.leaveNow();
    this.onAsk();
    void this.ask(ask).then((choice) => (choice === "cancel" ? this.choose(choice) : this.leaveNow()));
  }

  private leaveNow(): void {
    this.asking.abort();
    this.choose("leave");
    this.leave();
  }

  /** An end of the input and a Ctrl-C at the question leave the job: it was paid for. */
  private async ask(ask: NonNullable<CliHost["caller"]["ask"]>): Promise<InterruptChoice> {
    for (;;) {
      const line = await ask(QUESTION, { signal: this.asking.signal });
      if (line === null) return "leave";
      const choice = INTERRUPT_CHOICES.find((each) => [each, each[0]].includes(line.trim().toLowerCase()));
      if (choice !== undefined) return choice;
    }
  }
}
