import { Body, Get, Middlewares, Path, Post, Query, Route, Security, Tags } from "@tsoa/runtime";
import type { HttpDeps } from "../../deps.js";
import { jsonBody } from "../../middleware/json-body.js";
import { type AdminDeps, adminOf } from "../deps.js";
import { type AdminBalance, type AdminLedgerEntry, presentBalance, presentEntry } from "../presenters.js";
import { defined } from "../values.js";

export interface GrantRequest {
  /**
   * Whole credits, above 0.
   * @isInt
   */
  amount: number;
  /** `monthly` by default. */
  bucket?: "monthly" | "pack";
  /** What it is for, 1 to 200 characters; a grant with the same reference changes nothing. */
  reference?: string;
}

export interface RenewalRequest {
  /** The month that begins, written `2026-11`; by default the current one, in UTC. */
  period?: string;
}

@Route("admin/v1/accounts/{id}")
@Tags("Credits")
export class AdminCreditsController {
  private readonly admin: AdminDeps;

  constructor(deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * What the account has, and what its jobs have reserved.
   * @summary Show credits
   */
  @Get("credits")
  @Security("admin", ["read"])
  async getCredits(@Path() id: string): Promise<{ data: AdminBalance }> {
    return { data: presentBalance(await this.admin.credits.balance(id)) };
  }

  /**
   * Adds credits. With a reference that was used before for the same account, bucket and amount it changes nothing.
   * @summary Grant credits
   */
  @Post("credits/grants")
  @Security("admin", ["owner"])
  @Middlewares(jsonBody)
  async grantCredits(@Path() id: string, @Body() body: GrantRequest): Promise<{ data: AdminBalance }> {
    const { amount, bucket, reference } = body;
    return { data: presentBalance(await this.admin.credits.grant(id, amount, defined({ bucket, reference }))) };
  }

  /**
   * Starts a new month: what is left of the monthly credits expires, the tier's allowance is added. Each period is
   * renewed once.
   * @summary Renew monthly credits
   */
  @Post("credits/renewals")
  @Security("admin", ["owner"])
  @Middlewares(jsonBody)
  async renewCredits(
    @Path() id: string,
    @Body() body: RenewalRequest,
  ): Promise<{ data: AdminBalance & { period: string; repeated: boolean } }> {
    const renewal = await this.admin.credits.renew(id, defined(body));
    return { data: { ...presentBalance(renewal), period: renewal.period, repeated: renewal.isRepeated } };
  }

  /**
   * Every movement of the account's credits, newest first.
   * @summary List ledger entries
   * @param before Only entries with a lower number: the last of the page before.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 1000
   * @isInt before
   */
  @Get("ledger")
  @Security("admin", ["read"])
  async listEntries(
    @Path() id: string,
    @Query() before?: number,
    @Query() limit = 50,
  ): Promise<{ data: { entries: AdminLedgerEntry[] } }> {
    return { data: { entries: (await this.admin.credits.entries(id, limit, before)).map(presentEntry) } };
  }
}
