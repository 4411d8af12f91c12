import {
  Body,
  Delete,
  Get,
  Middlewares,
  Path,
  Post,
  Query,
  Request,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from "@tsoa/runtime";
import type express from "express";
import type { MarginReport } from "../../../../core/attempts/report-margin.js";
import { InvalidRequestError } from "../../../../core/errors.js";
import { AUDIT_ACTIONS } from "../../../../core/ports/audit-record.js";
import type { ProviderReport } from "../../../../core/providers/report-providers.js";
import type { HttpDeps } from "../../deps.js";
import { jsonBody } from "../../middleware/json-body.js";
import { type Model, presentModel } from "../../presenters/model.js";
import { operatorOf } from "../authentication.js";
import { type AdminDeps, adminOf } from "../deps.js";
import { type AdminAuditRecord, type AdminToken, moment, presentAuditRecord, presentToken } from "../presenters.js";
import { dateTime, defined } from "../values.js";

/** A provider with the state of its circuit breaker, and what it has to do. */
export interface AdminProvider {
  id: string;
  label: string;
  enabled: boolean;
  models: string[];
  /** @isInt */
  max_in_flight: number | null;
  breaker: {
    state: "closed" | "open" | "half_open";
    /** @isInt */
    failures: number;
    /** @format date-time */
    opened_at: string | null;
    /** @format date-time */
    tries_at: string | null;
  };
  /** Models and operations that are unavailable by themselves. */
  unavailable: string[];
  /** Jobs in all processes together. */
  work: { waiting: number; submitting: number; rendering: number };
  /** For how long the waiting job that is due the longest has been due; 0 when none is. */
  queue_age_seconds: number;
}

/** What one provider brought in and cost. */
export interface AdminMargin {
  provider: string;
  /** @isInt */
  completed: number;
  /** @isInt */
  failed: number;
  /** @isInt */
  credits_charged: number;
  /** @isInt */
  attempts: number;
  /** @isInt */
  bought: number;
  /** @isInt */
  wasted: number;
  /** By unit: a currency, or the provider's own credits. */
  billed: { [unit: string]: number };
  /** The part of it that belongs to refunded jobs. */
  refunded: { [unit: string]: number };
}

/** What one check of the installation found. */
export interface AdminCheck {
  name: string;
  result: "ok" | "warning" | "failed";
  message: string;
  /** How to fix it; null when there is nothing to fix. */
  fix: string | null;
}

export interface AdminSetting {
  /** Such as `http.port`. */
  path: string;
  /** As JSON; `***` in place of a secret. */
  value: unknown;
  origin: "default" | "file" | "environment" | "app";
  /** The file or the variable; null for a default. */
  source: string | null;
}

export interface NewTokenRequest {
  /** Who uses it, for the audit log: 1 to 60 characters. */
  name: string;
  role: "read" | "operate" | "owner";
  /** @format date-time */
  expires_at?: string;
}

const DAY_MS = 86_400_000;

export function presentProvider(report: ProviderReport): AdminProvider {
  const { breaker } = report;
  return {
    id: report.id,
    label: report.label,
    enabled: report.enabled,
    models: [...report.models],
    max_in_flight: report.maxInFlight,
    breaker: {
      state: breaker.state,
      failures: breaker.failures,
      opened_at: moment(breaker.openedAt),
      tries_at: moment(breaker.triesAt),
    },
    unavailable: [...report.unavailable],
    work: { ...report.work },
    queue_age_seconds: report.queueAgeMs / 1000,
  };
}

function presentMargin({ providers }: MarginReport): AdminMargin[] {
  return providers.map((one) => ({
    provider: one.providerId,
    completed: one.completed,
    failed: one.failed,
    credits_charged: one.creditsCharged,
    attempts: one.attempts,
    bought: one.bought,
    wasted: one.wasted,
    billed: { ...one.billed },
    refunded: { ...one.refunded },
  }));
}

@Route("admin/v1")
@Tags("Installation")
export class AdminInstallationController {
  private readonly admin: AdminDeps;

  constructor(private readonly deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Whose token it is, and what it may do.
   * @summary Show the operator
   */
  @Get("me")
  @Security("admin", ["read"])
  getOperator(
    @Request() request: express.Request,
  ): Promise<{ data: { name: string; role: "read" | "operate" | "owner" } }> {
    const { name, role } = operatorOf(request);
    return Promise.resolve({ data: { name, role } });
  }

  /**
   * All models in config, with what they cost and whether they are available.
   * @summary List models
   */
  @Get("models")
  @Security("admin", ["read"])
  async listModels(): Promise<{ data: { models: Model[] } }> {
    return { data: { models: (await this.deps.models.list()).map(presentModel) } };
  }

  /**
   * The providers in config with their circuit breakers, and what they have to do.
   * @summary List providers
   */
  @Get("providers")
  @Security("admin", ["read"])
  async listProviders(): Promise<{ data: { providers: AdminProvider[] } }> {
    return { data: { providers: (await this.admin.providers.list()).map(presentProvider) } };
  }

  /**
   * What accounts paid and providers billed for the jobs of a span of time, by provider.
   * @summary Show the margin
   * @param from Jobs created at or after this moment; seven days ago by default.
   * @param to Jobs created before this moment; now by default.
   */
  @Get("margin")
  @Security("admin", ["read"])
  async getMargin(@Query() from?: string, @Query() to?: string): Promise<{ data: { providers: AdminMargin[] } }> {
    const now = this.deps.clock.now();
    const end = to === undefined ? now : dateTime("query.to", to);
    const begin = from === undefined ? end - 7 * DAY_MS : dateTime("query.from", from);
    if (begin > end) throw new InvalidRequestError([{ path: "query.from", message: "must not be after to" }]);
    return {
      data: { providers: presentMargin(await this.admin.margin.report({ from: begin, to: end, refundedLimit: 0 })) },
    };
  }

  /**
   * What operators did, newest first.
   * @summary List audit records
   * @param account Only what is about this account.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 1000
   */
  @Get("audit")
  @Security("admin", ["read"])
  async listAudit(
    @Query() account?: string,
    @Query() action?: string,
    @Query() since?: string,
    @Query() limit = 100,
  ): Promise<{ data: { records: AdminAuditRecord[] } }> {
    const known = AUDIT_ACTIONS.find((one) => one === action);
    if (action !== undefined && known === undefined)
      throw new InvalidRequestError([{ path: "query.action", message: `must be one of ${AUDIT_ACTIONS.join(", ")}` }]);
    const filter = defined({
      action: known,
      accountId: account === undefined ? undefined : (await this.admin.accounts.get(account)).id,
      since: since === undefined ? undefined : dateTime("query.since", since),
    });
    return { data: { records: (await this.admin.audit.list({ ...filter, limit })).map(presentAuditRecord) } };
  }

  /**
   * What `fermata doctor` finds.
   * @summary Check the installation
   */
  @Get("doctor")
  @Security("admin", ["read"])
  async checkInstallation(): Promise<{ data: { ok: boolean; checks: AdminCheck[] } }> {
    const checks = await this.admin.doctor();
    return { data: { ok: checks.every(({ result }) => result !== "failed"), checks: [...checks] } };
  }

  /**
   * Every setting in force in this process, those that plugins and adapters declare included. Secrets are masked.
   * @summary List settings
   */
  @Get("settings")
  @Security("admin", ["read"])
  async listSettings(): Promise<{ data: { settings: AdminSetting[] } }> {
    return { data: { settings: (await this.admin.settings()).map((setting) => ({ ...setting })) } };
  }

  /**
   * The tokens of operators, newest first, revoked ones included.
   * @summary List admin tokens
   */
  @Get("tokens")
  @Security("admin", ["owner"])
  async listTokens(): Promise<{ data: { tokens: AdminToken[] } }> {
    const [tokens, now] = [await this.admin.tokens.list(), this.deps.clock.now()];
    return { data: { tokens: tokens.map((token) => presentToken(token, now)) } };
  }

  /**
   * Issues a token for an operator. The response shows it this once.
   * @summary Issue an admin token
   */
  @Post("tokens")
  @Security("admin", ["owner"])
  @SuccessResponse(201)
  @Middlewares(jsonBody)
  async issueToken(@Body() body: NewTokenRequest): Promise<{ data: AdminToken & { token: string } }> {
    const { name, role, expires_at: expires } = body;
    const expiresAt = expires === undefined ? undefined : dateTime("body.expires_at", expires);
    const { token, shown } = await this.admin.tokens.issue({ name, role, ...defined({ expiresAt }) });
    return { data: { ...presentToken(shown, this.deps.clock.now()), token } };
  }

  /**
   * Revokes a token of an operator; it stops working everywhere within a second.
   * @summary Revoke an admin token
   */
  @Delete("tokens/{id}")
  @Security("admin", ["owner"])
  async revokeToken(@Path() id: string): Promise<{ data: { id: string; revoked: boolean } }> {
    await this.admin.tokens.revoke(id);
    return { data: { id, revoked: true } };
  }
}
