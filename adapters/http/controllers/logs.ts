import { Get, Query, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { LOGS_LIMIT } from "../../../core/usage/read-usage.js";
import { contextOf } from "../request-context.js";
import type { HttpDeps } from "../deps.js";
import { type LogEntry, presentLogEntry } from "../presenters/log-entry.js";

@Route("api/v1/logs")
@Tags("Account")
export class LogsController {
  constructor(private readonly deps: Pick<HttpDeps, "usage">) {}

  /**
   * The account's requests of the last 30 days, newest first. A request appears within a second of its response.
   * @summary Recent request logs
   * @param limit Most entries to return, 1 to 100; 50 by default.
   * @isInt limit must be an integer
   * @minimum limit 1 must be 1 to 100
   * @maximum limit 100 must be 1 to 100
   */
  @Get()
  @Security("bearer", ["profile:read"])
  async listLogs(
    @Request() request: express.Request,
    @Query() limit?: number,
  ): Promise<{ data: { logs: LogEntry[] } }> {
    const found = await this.deps.usage.logs(contextOf(request).account.id, limit ?? LOGS_LIMIT.default);
    return { data: { logs: found.map(presentLogEntry) } };
  }
}
