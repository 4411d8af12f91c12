import { Get, Query, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { EVENTS_LIMIT } from "../../../core/webhooks/read-events.js";
import { contextOf } from "../request-context.js";
import type { HttpDeps } from "../deps.js";
import { presentWebhookEvent, type WebhookEvent } from "../presenters/webhook-event.js";

@Route("api/v1/events")
@Tags("Webhooks")
export class EventsController {
  constructor(private readonly deps: Pick<HttpDeps, "readEvents">) {}

  /**
   * The account's events of the last 30 days, the oldest first, each with the body that a webhook delivery carries:
   * for those who cannot receive deliveries, or have missed some. An account needs no webhook endpoint for it.
   *
   * Ask again with `after` set to `next_cursor`: at once while `has_more` is true, later for what happens from then on.
   * No event is skipped, and none comes twice.
   * @summary List events
   * @param after Only events behind this one: `next_cursor` of the response before, or the `webhook-id` of a delivery.
   * Where that event is not kept any more, the list begins with the oldest one that is.
   * @param limit Most events to return, 1 to 100; 50 by default.
   * @isInt limit must be an integer
   * @minimum limit 1 must be 1 to 100
   * @maximum limit 100 must be 1 to 100
   */
  @Get()
  @Security("bearer", ["generations:read"])
  async listEvents(
    @Request() request: express.Request,
    @Query() after?: string,
    @Query() limit?: number,
  ): Promise<{ data: { events: WebhookEvent[]; next_cursor: string | null; has_more: boolean } }> {
    const { account } = contextOf(request);
    const page = await this.deps.readEvents.list(account.id, after, limit ?? EVENTS_LIMIT.default);
    const { next: next_cursor, hasMore: has_more } = page;
    return { data: { events: page.events.map(presentWebhookEvent), next_cursor, has_more } };
  }
}
