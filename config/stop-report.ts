import type { UnrepeatableWork } from "../core/leases/lease.js";
import type { Logger } from "../core/ports/logger.js";

/** Reports what a stop waits for and gives up: as plain lines on a terminal, else in the log. */
export class StopReport {
  constructor(
    private readonly stderr: Pick<NodeJS.WriteStream, "write"> & { readonly isTTY?: boolean },
    private readonly logger: Logger,
  ) {}

  waiting(work: readonly UnrepeatableWork[], leftMs: number): void {
    const seconds = Math.ceil(leftMs / 1000);
    const [calls, they] = [countOf(work), work.length === 1 ? "it" : "they"];
    if (work.length === 0) {
      this.say("no call that cannot be repeated is under way any more");
    } else if (this.stderr.isTTY === true) {
      this.say(
        `waiting for ${calls} that cannot be repeated, at most ${seconds} s; press Ctrl-C again to stop now: ` +
          `${they} would be paid and refunded`,
      );
    } else {
      this.logger.info("The stop waits for calls that cannot be repeated", { calls, at_most_seconds: seconds });
    }
  }

  abandoned(work: readonly UnrepeatableWork[]): void {
    const [calls, are] = [countOf(work), work.length === 1 ? "it is" : "they are"];
    if (this.stderr.isTTY === true) {
      this.say(`gave up ${calls}: ${are} paid to the provider and refunded to the account`);
    } else {
      this.logger.warn("The stop gave up calls that cannot be repeated: they are paid and refunded", { calls });
    }
  }

  private say(line: string): void {
    if (this.stderr.isTTY === true) this.stderr.write(`${line}\n`);
  }
}

/** Such as `2 submissions to elevenlabs and 1 result of lyria`. */
function countOf(work: readonly UnrepeatableWork[]): string {
  const counts = new Map<string, number>();
  for (const { kind, providerId } of work) {
    const key = `${kind} ${providerId}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const parts = [...counts].map(([key, count]) => {
    const [kind, providerId] = key.split(" ");
    const noun = count === 1 ? kind : `${kind}s`;
    return `${count} ${noun} ${kind === "submission" ? "to" : "of"} ${providerId}`;
  });
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
