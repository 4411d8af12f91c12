import { ErrorReply } from "@redis/client";
import type { Clock, JobId, Logger, NotificationListener } from "fermata-music";
import { type Client, Connection, RESPONSE_MS } from "./connection.js";

/** All workers share one group, so that each notification reaches one of them. */
const GROUP = "workers";

/** The group's only consumer: names of processes would remain in Redis after each process that was killed. */
const CONSUMER = "worker";

/** How long Redis keeps a read waiting for a notification. */
const BLOCK_MS = 5_000;

/** How many listeners of one provider run at a time; the other notifications wait in Redis, for any worker. */
const RUNNING_MAX = 50;

const RETRY_MS = 500;

interface Entry {
  readonly id: string;
  readonly message: Readonly<Record<string, string>>;
}

export interface ReaderOptions {
  readonly url: string;
  readonly stream: string;
  readonly providerId: string;
  /** A notification that was read and not acknowledged for so long belonged to a worker that was killed. */
  readonly abandonedMs: number;
  /** For what does not block. */
  readonly commands: Connection;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Creates the group at the beginning of the stream: what was sent before there was a group is not lost. */
export async function createGroup(client: Client, stream: string): Promise<void> {
  try {
    await client.xGroupCreate(stream, GROUP, "0", { MKSTREAM: true });
  } catch (error) {
    if (!isReply(error, "BUSYGROUP")) throw error; // it exists
  }
}

/** Reads the stream of one provider, over a connection of its own, until it is stopped. */
export class Reader {
  /** Why nothing can be read at the moment. */
  problem: unknown = null;
  private readonly listeners: NotificationListener[] = [];
  private readonly running = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly connection: Connection;
  private claimAt = 0;

  constructor(private readonly options: ReaderOptions) {
    this.connection = new Connection(options.url);
    void this.readOn();
  }

  add(listener: NotificationListener): void {
    this.listeners.push(listener);
  }

  /** Reads no more. Resolves when the listeners that run have ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.connection.close();
    await Promise.all(this.running);
  }

  private async readOn(): Promise<void> {
    const { signal } = this.stopping;
    const { logger, clock, providerId } = this.options;
    while (!signal.aborted) {
      try {
        const entries = await this.connection.use((client) => this.read(client), BLOCK_MS + RESPONSE_MS);
        if (this.problem !== null) logger.info("Notifications are read from Redis again", { providerId });
        this.problem = null;
        for (const { id, message } of entries) {
          const work = this.pass(id, message["job"] as JobId).finally(() => this.running.delete(work));
          this.running.add(work);
        }
        if (this.running.size >= RUNNING_MAX) await Promise.race(this.running);
      } catch (error) {
        if (signal.aborted) return;
        if (this.problem === null)
          logger.warn("Notifications cannot be read from Redis; trying again", { providerId, error });
        this.problem = error;
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }

  private async read(client: Client): Promise<readonly Entry[]> {
    const { stream, clock, abandonedMs } = this.options;
    const limit = { COUNT: RUNNING_MAX - this.running.size };
    try {
      if (clock.now() >= this.claimAt) {
        const abandoned = await client.xAutoClaim(stream, GROUP, CONSUMER, abandonedMs, "0-0", limit);
        const entries = abandoned.messages.filter((entry) => entry !== null);
        if (entries.length > 0) return entries; // there may be more
        this.claimAt = clock.now() + abandonedMs;
      }
      const options = { ...limit, BLOCK: BLOCK_MS };
      const read = await client.xReadGroup(GROUP, CONSUMER, { key: stream, id: ">" }, options);
      return (read as readonly { readonly messages: readonly Entry[] }[] | null)?.[0]?.messages ?? [];
    } catch (error) {
      if (!isReply(error, "NOGROUP")) throw error;
      await createGroup(client, stream); // a first start, or Redis has lost its memory
      return [];
    }
  }

  /** Acknowledges also what a listener failed at: the sweep finds that job. */
  private async pass(id: string, jobId: JobId): Promise<void> {
    const { stream, providerId, commands, logger } = this.options;
    const notification = { jobId, providerId };
    for (const result of await Promise.allSettled(this.listeners.map(async (listen) => listen(notification))))
      if (result.status === "rejected")
        logger.error("A listener of notifications failed", { ...notification, error: result.reason as unknown });
    try {
      await commands.use((client) => client.xAck(stream, GROUP, id));
    } catch (error) {
      logger.debug("A notification was not acknowledged; it will come again", { ...notification, error });
    }
  }
}

function isReply(error: unknown, code: string): boolean {
  return error instanceof ErrorReply && error.message.startsWith(code);
}
