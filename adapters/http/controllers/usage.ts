import { Get, Query, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { InvalidRequestError, type RequestIssue } from "../../../core/errors.js";
import { momentOf } from "../date-time.js";
import { contextOf } from "../request-context.js";
import type { HttpDeps } from "../deps.js";
import { presentUsage, type Usage } from "../presenters/usage.js";

@Route("api/v1/usage")
@Tags("Account")
export class UsageController {
  constructor(private readonly deps: Pick<HttpDeps, "usage">) {}

  /**
   * What the account's requests of the last 30 days were, and what they cost. Filters combine.
   *
   * Credits are exact at any moment. A request appears within a second of its response. `summary` is of everything that
   * fits, `events` has the newest of it; `next_cursor` is null where nothing follows.
   * @summary Usage summary and events
   * @param from Requests that arrived at this moment or later. What is older than 30 days is not kept.
   * @param to Requests that arrived before this moment.
   * @param client Label of the calling integration: the field `client` of a generation, the header `X-Client`
   *   elsewhere.
   * @param endpoint Template of the path.
   * @param status HTTP status of the response.
   * @isInt status must be an integer
   * @minimum status 100 must be 100 to 599
   * @maximum status 599 must be 100 to 599
   * @param limit Most events to return, 1 to 100; 100 by default.
   * @isInt limit must be an integer
   * @minimum limit 1 must be 1 to 100
   * @maximum limit 100 must be 1 to 100
   * @param cursor `next_cursor` of the page before; it holds for the same filters alone.
   */
  @Get()
  @Security("bearer", ["profile:read"])
  async getUsage(
    @Request() request: express.Request,
    @Query() from?: string,
    @Query() to?: string,
    @Query() client?: string,
    @Query() endpoint?: string,
    @Query() status?: number,
    @Query() limit?: number,
    @Query() cursor?: string,
  ): Promise<{ data: Usage }> {
    const issues: RequestIssue[] = [];
    const moments = { from: momentOf("from", from, issues), to: momentOf("to", to, issues) };
    if (moments.from !== undefined && moments.to !== undefined && moments.from > moments.to) {
      issues.push({ path: "query.from", message: "must not be later than to" });
    }
    if (issues.length > 0) throw new InvalidRequestError(issues);
    const filter = { ...moments, client, route: endpoint, status };
    const { account } = contextOf(request);
    return { data: presentUsage(await this.deps.usage.usage(account.id, filter, { limit, cursor })) };
  }
}
