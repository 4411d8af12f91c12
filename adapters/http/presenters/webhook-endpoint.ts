import type { ShownEndpoint } from "../../../core/webhooks/shown-endpoint.js";
import { timestamp } from "./time.js";

/** Where the account is notified of ended jobs. */
export interface WebhookEndpoint {
  id: string;
  /** @format uri */
  url: string;
  status: "active" | "disabled";
  /** The first characters of the signing secret. */
  signing_secret_prefix: string;
  /** @format date-time */
  created_at: string | null;
  /** @format date-time */
  updated_at: string | null;
  /** @format date-time */
  disabled_at: string | null;
}

/** A webhook endpoint that was just registered. */
export interface NewWebhookEndpoint extends WebhookEndpoint {
  /** Signs every delivery (Standard Webhooks). Shown this once. */
  signing_secret: string;
}

export function presentWebhookEndpoint(endpoint: ShownEndpoint): WebhookEndpoint {
  return {
    id: endpoint.id,
    url: endpoint.url,
    status: endpoint.status,
    signing_secret_prefix: endpoint.secretPrefix,
    created_at: timestamp(endpoint.createdAt),
    updated_at: timestamp(endpoint.updatedAt),
    disabled_at: endpoint.disabledAt === null ? null : timestamp(endpoint.disabledAt),
  };
}
