import {
  Body,
  Delete,
  Get,
  Middlewares,
  Patch,
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
import { contextOf } from "../request-context.js";
import { jsonBody } from "../middleware/json-body.js";
import type { HttpDeps } from "../deps.js";
import {
  type NewWebhookEndpoint,
  presentWebhookEndpoint,
  type WebhookEndpoint,
} from "../presenters/webhook-endpoint.js";

/** Where deliveries are to go. */
export interface WebhookEndpointRequest {
  /** A public HTTPS address, at most 2,048 characters. */
  url: string;
}

/** The changes; members that are left out stay. */
export interface WebhookEndpointChanges {
  /** A public HTTPS address, at most 2,048 characters. */
  url?: string;
  /** `disabled` drops what waits for the endpoint; `active` starts again. */
  status?: "active" | "disabled";
}

@Route("api/v1/webhook-endpoints")
@Tags("Webhooks")
export class WebhookEndpointsController {
  constructor(private readonly deps: Pick<HttpDeps, "webhookEndpoints">) {}

  /**
   * The account's active webhook endpoints, newest first. `next_cursor` is null where nothing follows.
   * @summary List webhook endpoints
   * @param status Another status than `active`, or `all`.
   * @param limit Most endpoints to return, 1 to 20; 20 by default, which is as many as there can be.
   * @isInt limit must be an integer
   * @minimum limit 1 must be 1 to 20
   * @maximum limit 20 must be 1 to 20
   * @param cursor `next_cursor` of the page before; it holds for the same filters alone.
   */
  @Get()
  @Security("bearer")
  async listWebhookEndpoints(
    @Request() request: express.Request,
    @Query() status?: "active" | "disabled" | "all",
    @Query() limit?: number,
    @Query() cursor?: string,
  ): Promise<{ data: { webhook_endpoints: WebhookEndpoint[]; next_cursor: string | null } }> {
    const page = await this.deps.webhookEndpoints.page(contextOf(request).account.id, status, { limit, cursor });
    return { data: { webhook_endpoints: page.items.map(presentWebhookEndpoint), next_cursor: page.next } };
  }

  /**
   * Registers an address that is notified of every job that ends from now on. An account has at most 20 endpoints.
   *
   * Deliveries are signed by the Standard Webhooks specification with `signing_secret`, which is shown this once.
   * @summary Register webhook endpoint
   */
  @Post()
  @Security("bearer")
  @SuccessResponse(201, "Created")
  @Middlewares(jsonBody)
  async createWebhookEndpoint(
    @Request() request: express.Request,
    @Body() body: WebhookEndpointRequest,
  ): Promise<{ data: NewWebhookEndpoint }> {
    const { endpoint, secret } = await this.deps.webhookEndpoints.create(contextOf(request).account.id, body.url);
    return { data: { ...presentWebhookEndpoint(endpoint), signing_secret: secret } };
  }

  /**
   * Changes an endpoint's address or status.
   * @summary Update webhook endpoint
   * @param id The endpoint's id.
   */
  @Patch("{id}")
  @Security("bearer")
  @Middlewares(jsonBody)
  async updateWebhookEndpoint(
    @Request() request: express.Request,
    @Path() id: string,
    @Body() body: WebhookEndpointChanges,
  ): Promise<{ data: WebhookEndpoint }> {
    const changed = await this.deps.webhookEndpoints.update(contextOf(request).account.id, id, body);
    return { data: presentWebhookEndpoint(changed) };
  }

  /**
   * Removes an endpoint. What waits for it is dropped.
   * @summary Delete webhook endpoint
   * @param id The endpoint's id.
   */
  @Delete("{id}")
  @Security("bearer")
  async deleteWebhookEndpoint(
    @Request() request: express.Request,
    @Path() id: string,
  ): Promise<{ data: { id: string; deleted: boolean } }> {
    return { data: { id: await this.deps.webhookEndpoints.remove(contextOf(request).account.id, id), deleted: true } };
  }
}
