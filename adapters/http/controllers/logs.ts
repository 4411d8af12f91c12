import { Get, Query, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { contextOf } from "../request-context.js";
import type { HttpDeps } from "../deps.js";
import { type LogEntry, presentLogEntry } from "../presenters/log-entry.js";

@Route("api/v1/logs")
@Tags("Account")
export class LogsController {
  constructor(private readonly deps: Pick<HttpDeps, "usage">) {}

  /**
   * The account's requests of the last 30 days, newest first. A request appears within a second of its response.
   * `next_cursor` is null where nothing follows.
   * @summary Recent request logs
   * @param limit Most entries to return, 1 to 100; 50 by default.
   * @isInt limit must be an integer
   * @minimum limit 1 must be 1 to 100
   * @maximum limit 100 must be 1 to 100
   * @param cursor `next_cursor` of the page before.
   */
  @Get()
  @Security("bearer", ["profile:read"])
  async listLogs(
    @Request() request: express.Request,
    @Query() limit?: number,
    @Query() cursor?: string,
  ): Promise<{ data: { logs: LogEntry[]; next_cursor: string | null } }> {
    const page = await this.deps.usage.logs(contextOf(request).account.id, { limit, cursor });
    return { data: { logs: page.items.map(presentLogEntry), next_cursor: page.next } };
  }
}
