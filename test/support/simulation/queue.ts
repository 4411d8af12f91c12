import type { JobNotification, JobQueue, NotificationListener } from "../../../core/ports/job-queue.js";
import type { SeededRandom } from "../chaos/seeded-random.js";
import type { Fault } from "./plan.js";
import type { SimProcess } from "./process.js";
import type { Actor, Scheduler } from "./scheduler.js";

type QueueFault = Extract<Fault, { kind: "queue" }>;

interface Listening {
  readonly process: SimProcess;
  readonly providerId: string;
  readonly listener: NotificationListener;
}

const LATE_MS = 10_000;
const DELAY_MS = 15;

/** The broker of all processes: each notification goes to one that listens, unless a fault says otherwise. */
export class SimQueue {
  isHealed = false;
  private listening: Listening[] = [];

  constructor(
    private readonly scheduler: Scheduler,
    private readonly actor: Actor,
    private readonly random: SeededRandom,
    private readonly faults: readonly QueueFault[],
  ) {}

  /** The queue as one process has it. */
  open(process: SimProcess): JobQueue {
    return {
      notify: (notifications) => {
        if (!process.isDead) for (const notification of notifications) this.send(notification);
      },
      prepare: () => Promise.resolve(),
      listen: async (providerId, listener) => void this.listening.push({ process, providerId, listener }),
      check: () => Promise.resolve(),
      close: async () => {
        this.listening = this.listening.filter((one) => one.process !== process);
      },
    };
  }

  private send(notification: JobNotification): void {
    const happens = (how: QueueFault["how"]): boolean =>
      !this.isHealed && this.faults.some((fault) => fault.how === how && this.random.fraction() < fault.share);
    if (happens("lost")) return;
    for (let times = happens("doubled") ? 2 : 1; times > 0; times--)
      void this.deliver(notification, happens("late") ? LATE_MS : DELAY_MS);
  }

  private async deliver(notification: JobNotification, withinMs: number): Promise<void> {
    await this.scheduler.sleep(this.actor, this.random.fraction() * withinMs);
    const listening = this.listening.filter(
      ({ process, providerId }) => !process.isDead && providerId === notification.providerId,
    );
    const chosen = this.random.pick(listening);
    if (chosen === undefined) return;
    await chosen.process.step("notification");
    // A listener that waits for its process stays unheard of when that dies.
    void chosen.listener(notification);
  }
}
