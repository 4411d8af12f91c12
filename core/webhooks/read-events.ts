import { InvalidRequestError } from "../errors.js";
import { type AccountId, createdAtOf, isId, type WebhookEventId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { WebhookEvent } from "../ports/webhook-records.js";
import type { WebhookStore } from "../ports/webhook-store.js";

export const EVENTS_LIMIT = { default: 50, minimum: 1, maximum: 100 } as const;

/**
 * An event this old that is not stored was deleted, or never was; a younger one never was. A day less than events are
 * kept: the clocks of processes differ.
 */
const MAY_BE_DELETED_MS = 29 * 86_400_000;

/** Some of an account's events, the oldest first. */
export interface EventPage {
  readonly events: readonly WebhookEvent[];
  /** The last event that the caller has now; null: none yet. */
  readonly next: WebhookEventId | null;
  readonly hasMore: boolean;
}

export interface ReadEventsDeps {
  readonly webhooks: Pick<WebhookStore, "findEvents" | "listEvents">;
  readonly clock: Clock;
}

/**
 * What an account reads of its own events, whether it has webhook endpoints or not. A page never skips an event that is
 * committed later: events of an account are committed in the order of their numbers.
 */
export class ReadEvents {
  constructor(private readonly deps: ReadEventsDeps) {}

  /**
   * The events behind one of them; from the oldest that is kept where that one is not kept any more.
   *
   * @throws {InvalidRequestError} `after` is no event of a job of this account
   */
  async list(accountId: AccountId, after: string | undefined, limit: number): Promise<EventPage> {
    const place = after === undefined ? null : await this.find(accountId, after);
    const found = await this.deps.webhooks.listEvents(accountId, place?.number ?? 0, limit + 1);
    const events = found.slice(0, limit);
    return { events, next: events.at(-1)?.id ?? place?.id ?? null, hasMore: found.length > limit };
  }

  /** The event that a page begins behind, with its number: 0 where it is not kept any more. */
  private async find(
    accountId: AccountId,
    after: string,
  ): Promise<{ readonly id: WebhookEventId; readonly number: number }> {
    if (!isId("evt", after)) throw unknown("must be the id of an event, as next_cursor or webhook-id has it");
    const event = (await this.deps.webhooks.findEvents([after])).get(after);
    if (event?.accountId === accountId && event.number !== null) return { id: after, number: event.number };
    const isOld = createdAtOf(after) < this.deps.clock.now() - MAY_BE_DELETED_MS;
    if (event === undefined && isOld) return { id: after, number: 0 };
    throw unknown(`this account has no event ${after} of a job`);
  }
}

function unknown(message: string): InvalidRequestError {
  return new InvalidRequestError([{ path: "query.after", message }]);
}
