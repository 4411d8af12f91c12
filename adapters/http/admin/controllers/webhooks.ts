import { Body, Get, Middlewares, Path, Post, Query, Request, Route, Security, Tags } from "@tsoa/runtime";
import type express from "express";
import type { DeliveryAttempt } from "../../../../core/ports/webhook-records.js";
import type { DeliveryReport } from "../../../../core/webhooks/operate-webhooks.js";
import type { ShownEndpoint } from "../../../../core/webhooks/shown-endpoint.js";
import type { HttpDeps } from "../../deps.js";
import { jsonBody } from "../../middleware/json-body.js";
import { presentWebhookEndpoint, type WebhookEndpoint } from "../../presenters/webhook-endpoint.js";
import { contextOf } from "../../request-context.js";
import { type AdminDeps, adminOf } from "../deps.js";
import { moment } from "../presenters.js";
import { defined } from "../values.js";

/** A webhook endpoint with what operators see of it. */
export interface AdminEndpoint extends WebhookEndpoint {
  /** Whose it is. */
  account: string;
  /** Who disabled it: its account, a receiver that is gone, or failures for days. */
  disabled_by: "user" | "gone" | "failing" | null;
  /**
   * Since when all deliveries to it have failed; null while they succeed.
   * @format date-time
   */
  failing_since: string | null;
}

/** One delivery attempt and its result. */
export interface AdminDeliveryAttempt {
  /** @isInt */
  number: number;
  /** @format date-time */
  started_at: string;
  /** An operator asked for it. */
  manual: boolean;
  /** null when it was delivered. */
  failure: string | null;
  /**
   * The HTTP status; null when there was none.
   * @isInt
   */
  status: number | null;
  /** What went wrong. */
  message: string | null;
  /** The beginning of the response's body. */
  excerpt: string;
  /**
   * Milliseconds until it ended.
   * @isInt
   */
  total_ms: number;
}

export interface AdminDelivery {
  id: string;
  event: string;
  endpoint: string;
  state: "pending" | "delivered" | "exhausted" | "dropped";
  /** @format date-time */
  created_at: string;
  /**
   * When the next attempt is due; null when none follows.
   * @format date-time
   */
  due_at: string | null;
  /** @format date-time */
  ended_at: string | null;
  attempts: AdminDeliveryAttempt[];
}

export interface RotationRequest {
  /** For how long the old secret signs alongside the new one, 0 to 168; 24 by default, 0 when it has leaked. */
  overlap_hours?: number;
}

const OVERLAP_HOURS = 24;
const HOUR_MS = 3_600_000;

export function presentAdminEndpoint(endpoint: ShownEndpoint): AdminEndpoint {
  return {
    ...presentWebhookEndpoint(endpoint),
    account: endpoint.accountId,
    disabled_by: endpoint.disabledBy,
    failing_since: moment(endpoint.health.streak?.firstAt ?? null),
  };
}

function presentAttempt(attempt: DeliveryAttempt): AdminDeliveryAttempt {
  return {
    number: attempt.number,
    started_at: moment(attempt.startedAt) as string,
    manual: attempt.isManual,
    failure: attempt.failure,
    status: attempt.status,
    message: attempt.message,
    excerpt: attempt.excerpt,
    total_ms: Math.round(attempt.phases.totalMs),
  };
}

function presentDelivery({ delivery, tries }: DeliveryReport): AdminDelivery {
  return {
    id: delivery.id,
    event: delivery.eventId,
    endpoint: delivery.endpointId,
    state: delivery.state,
    created_at: moment(delivery.createdAt) as string,
    due_at: moment(delivery.dueAt),
    ended_at: moment(delivery.endedAt),
    attempts: tries.map(presentAttempt),
  };
}

@Route("admin/v1/webhook-endpoints")
@Tags("Webhooks")
export class AdminWebhooksController {
  private readonly admin: AdminDeps;

  constructor(deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Webhook endpoints of all accounts in the order of their creation, disabled ones included.
   * @summary List endpoints
   * @param after The id of the last endpoint of the page before.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 1000
   */
  @Get()
  @Security("admin", ["read"])
  async listAllEndpoints(
    @Query() after?: string,
    @Query() limit = 50,
  ): Promise<{ data: { webhook_endpoints: AdminEndpoint[] } }> {
    const endpoints = await this.admin.webhooks.allEndpoints(limit, after ?? null);
    return { data: { webhook_endpoints: endpoints.map(presentAdminEndpoint) } };
  }

  /**
   * A webhook endpoint of any account.
   * @summary Show an endpoint
   */
  @Get("{id}")
  @Security("admin", ["read"])
  async getEndpoint(@Path() id: string): Promise<{ data: AdminEndpoint }> {
    return { data: presentAdminEndpoint(await this.admin.webhooks.endpoint(id)) };
  }

  /**
   * What was, or is to be, sent to an endpoint, newest first, with every attempt.
   * @summary List deliveries
   * @param after The id of the last delivery of the page before.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 200
   */
  @Get("{id}/deliveries")
  @Security("admin", ["read"])
  async listDeliveries(
    @Path() id: string,
    @Query() state?: "pending" | "delivered" | "exhausted" | "dropped",
    @Query() after?: string,
    @Query() limit = 20,
  ): Promise<{ data: { deliveries: AdminDelivery[] } }> {
    const only = defined({ state, after });
    return { data: { deliveries: (await this.admin.webhooks.deliveries(id, limit, only)).map(presentDelivery) } };
  }

  /**
   * Sends `webhook.ping` to the endpoint, and returns what came of it.
   * @summary Ping an endpoint
   */
  @Post("{id}/ping")
  @Security("admin", ["operate"])
  async pingEndpoint(@Request() request: express.Request, @Path() id: string): Promise<{ data: AdminDeliveryAttempt }> {
    return { data: presentAttempt(await this.admin.webhooks.ping(id, contextOf(request).noRequestWaits())) };
  }

  /**
   * Gives the endpoint a new secret, which the response shows this once.
   * @summary Rotate the secret of an endpoint
   */
  @Post("{id}/rotate-secret")
  @Security("admin", ["operate"])
  @Middlewares(jsonBody)
  async rotateSecret(
    @Path() id: string,
    @Body() body: RotationRequest,
  ): Promise<{ data: WebhookEndpoint & { signing_secret: string } }> {
    const overlapMs = (body.overlap_hours ?? OVERLAP_HOURS) * HOUR_MS;
    const { endpoint, secret } = await this.admin.webhooks.rotateSecret(id, overlapMs);
    return { data: { ...presentWebhookEndpoint(endpoint), signing_secret: secret } };
  }
}

@Route("admin/v1/webhook-deliveries")
@Tags("Webhooks")
export class AdminDeliveriesController {
  private readonly admin: AdminDeps;

  constructor(deps: HttpDeps) {
    this.admin = adminOf(deps);
  }

  /**
   * Sends a delivery once more, now, and returns what came of it.
   * @summary Resend a delivery
   */
  @Post("{id}/resend")
  @Security("admin", ["operate"])
  async resendDelivery(
    @Request() request: express.Request,
    @Path() id: string,
  ): Promise<{ data: AdminDeliveryAttempt }> {
    return { data: presentAttempt(await this.admin.webhooks.resend(id, contextOf(request).noRequestWaits())) };
  }
}
