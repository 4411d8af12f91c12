import { Get, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import { contextOf } from "../request-context.js";
import type { HttpDeps } from "../deps.js";
import { type Credits, presentCredits } from "../presenters/credits.js";

@Route("api/v1/credits")
@Tags("Account")
export class CreditsController {
  constructor(private readonly deps: Pick<HttpDeps, "credits">) {}

  /**
   * The account's credit balance. Asking for it costs no credits.
   * @summary Credit balance
   */
  @Get()
  @Security("bearer", ["credits:read"])
  async getCredits(@Request() request: express.Request): Promise<{ data: Credits }> {
    return { data: presentCredits(await this.deps.credits.balance(contextOf(request).account.id)) };
  }
}
