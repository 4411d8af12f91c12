import { InvalidRequestError } from "../errors.js";
import { type EventListener, type EventName, Listening, type ListeningDeps } from "./listening.js";

export interface EventOptions {
  /** The cursor of the last event that was heard; without it, what ends from now on is heard. */
  readonly after?: string;
}

/** Ends the listening: no event comes after the call. A running listener is not waited for. */
export interface EventSubscription {
  (): void;
  /**
   * Resolves once it is certain that every job that had not ended yet will be heard. It matters to one who looks for
   * earlier ends: look after it. A storage that cannot be reached is waited for; after the end of the listening it
   * resolves as well.
   *
   * @throws {OperationRefusedError} `after` is ahead of all events, as in a database that was restored from a backup:
   *   the listening has ended
   */
  readonly ready: Promise<void>;
}

const CURSOR = /^(0|[1-9]\d{0,14})$/;

/** Notifies an embedding app of generations and splits that ended, in whichever process. */
export class GenerationEvents {
  private readonly listening = new Set<Listening>();
  private isStopped = false;

  constructor(private readonly deps: ListeningDeps) {}

  /**
   * Calls `listener` with every event of this name, at least once, one after another in the order of their cursors,
   * which is the order in which they were committed, or nearly. A listener that throws or rejects is logged and called
   * again with the same event after 1 s, and after pauses that double up to a minute; what follows waits. Each listener
   * has its own place: one that is slow delays no other. Events are kept as long as their jobs.
   *
   * Storage is read only while there is a listener: at once when a job ends in this process, and every second. The
   * first one after a long time also numbers what ended meanwhile, some thousand jobs a second.
   *
   * @throws {InvalidRequestError} `after` is no cursor
   */
  on(name: EventName, listener: EventListener, { after }: EventOptions = {}): EventSubscription {
    if (after !== undefined && !CURSOR.test(after))
      throw new InvalidRequestError([{ path: "after", message: "must be the cursor of an event" }]);
    const position = after === undefined ? null : Number(after);
    const one = new Listening(this.deps, { name, listener, position });
    const end = (): void => {
      // Known until it is over, so that a stop waits for it.
      void one.stop().then(() => this.listening.delete(one));
    };
    if (this.isStopped) void one.stop();
    else this.listening.add(one.start());
    return Object.assign(end, { ready: one.ready });
  }

  /**
   * Ends all listening for good and waits for running listeners.
   *
   * @param graceMs how long they are waited for; by default until they end
   */
  async stop(graceMs = Infinity): Promise<void> {
    this.isStopped = true;
    const stopped = Promise.all([...this.listening].map((one) => one.stop()));
    if (graceMs === Infinity) return void (await stopped);
    const isDone = new AbortController();
    await Promise.race([stopped, this.deps.clock.sleep(graceMs, isDone.signal)]);
    isDone.abort();
  }
}
