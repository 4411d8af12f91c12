import {
  type AdapterHost,
  defineAdapter,
  type JobNotification,
  type JobQueue,
  type NotificationListener,
  type SettingDeclarations,
} from "fermata-music";
import { checkRedis } from "./check.js";
import { Connection } from "./connection.js";
import { createGroup, Reader } from "./reader.js";

/** So many notifications may be on their way to Redis; the next ones are dropped. */
const UNSENT_MAX = 10_000;

/** How long `close` waits for listeners, and for notifications on their way. */
const CLOSE_GRACE_MS = 500;

const settings = {
  prefix: { type: "string", default: "fermata", description: "First part of the names of the streams" },
  maxLength: {
    type: "integer",
    default: 10_000,
    minimum: 100,
    description: "Entries that each stream holds, about; older ones go, read or not",
  },
  abandonedSeconds: {
    type: "integer",
    default: 60,
    minimum: 1,
    description: "After how long another worker gets what a worker has read and not acknowledged",
  },
} as const satisfies SettingDeclarations;

type Host = AdapterHost<typeof settings>;

/** Notifications in Redis Streams: a stream for each provider, and on each stream one group of all workers. */
export class RedisStreamsJobQueue implements JobQueue {
  private readonly commands: Connection;
  private readonly readers = new Map<string, Reader>();
  private readonly sending = new Set<Promise<void>>();
  private unsent = 0;
  private dropped = 0;
  private closing: Promise<void> | null = null;

  constructor(private readonly host: Host) {
    this.commands = new Connection(host.url);
  }

  notify(notifications: readonly JobNotification[]): void {
    const { length } = notifications;
    if (this.closing !== null || length === 0) return;
    if (this.unsent >= UNSENT_MAX)
      return this.drop(length, new Error(`${this.unsent} notifications wait for Redis already.`));
    this.unsent += length;
    const sending = this.send(notifications)
      .then(
        () => this.noteSent(),
        (error: unknown) => this.drop(length, error),
      )
      .finally(() => {
        this.unsent -= length;
        this.sending.delete(sending);
      });
    this.sending.add(sending);
  }

  async prepare(providerIds: readonly string[]): Promise<void> {
    this.assertOpen();
    try {
      await this.commands.use((client) => Promise.all(providerIds.map((id) => createGroup(client, this.streamOf(id)))));
    } catch (error) {
      // Nothing is missing later: sending creates a stream, and reading creates the group at its beginning.
      this.host.logger.warn("The streams could not be prepared; Redis is unavailable", { error });
    }
  }

  async listen(providerId: string, listener: NotificationListener): Promise<void> {
    this.assertOpen();
    const { commands, host } = this;
    const own = { stream: this.streamOf(providerId), providerId, abandonedMs: host.settings.abandonedSeconds * 1_000 };
    const reader = this.readers.get(providerId) ?? new Reader({ ...host, ...own, commands });
    this.readers.set(providerId, reader);
    reader.add(listener);
  }

  async check(): Promise<void> {
    this.assertOpen();
    const problems = [...this.readers.values()].map(({ problem }) => problem);
    await this.commands.use((client) => client.ping()).catch((error: unknown) => problems.push(error));
    const cause = problems.find((problem) => problem !== null);
    if (cause !== undefined) throw new Error("Redis is unavailable.", { cause });
  }

  close(): Promise<void> {
    return (this.closing ??= this.leave());
  }

  private async leave(): Promise<void> {
    const done = new AbortController();
    const ends = [...this.sending, ...[...this.readers.values()].map((reader) => reader.stop())];
    await Promise.race([Promise.all(ends), this.host.clock.sleep(CLOSE_GRACE_MS, done.signal)]);
    done.abort(); // ends the sleep
    this.commands.close();
  }

  /** Pipelined by the client; resolves when Redis has all of them. */
  private async send(notifications: readonly JobNotification[]): Promise<void> {
    const threshold = this.host.settings.maxLength;
    const TRIM = { strategy: "MAXLEN", strategyModifier: "~", threshold } as const;
    await this.commands.use((client) =>
      Promise.all(
        notifications.map(({ providerId, jobId }) =>
          client.xAdd(this.streamOf(providerId), "*", { job: jobId }, { TRIM }),
        ),
      ),
    );
  }

  /** One line at the beginning of an outage, and one with the number at its end. */
  private drop(count: number, error: unknown): void {
    if (this.dropped === 0)
      this.host.logger.warn("Redis is unavailable; notifications are dropped, and workers sweep for jobs", { error });
    this.dropped += count;
  }

  private noteSent(): void {
    if (this.dropped > 0) this.host.logger.info("Notifications reach Redis again", { dropped: this.dropped });
    this.dropped = 0;
  }

  private streamOf(providerId: string): string {
    return `${this.host.settings.prefix}:jobs:${providerId}`;
  }

  private assertOpen(): void {
    if (this.closing !== null) throw new Error("The job queue is closed.");
  }
}

export default defineAdapter({
  port: "queue",
  schemes: {
    redis: { form: "redis://USER:PASSWORD@HOST:PORT/DATABASE", rest: "server" },
    rediss: { form: "rediss://USER:PASSWORD@HOST:PORT/DATABASE", rest: "server" }, // TLS
  },
  settings,
  open: async (host) => new RedisStreamsJobQueue(host),
  check: ({ url }) => checkRedis(url),
});
