/** The client of the public API for browsers and Node: `fermata-music/client`. */
export { createClient } from "./client.js";
export type { Client, ClientOptions, CreateOptions } from "./client.js";
export * from "./errors.js";
export type { Progress, WaitOptions } from "./follow.js";
export { newIdempotencyKey } from "./key.js";
export type { ListPaths } from "./pages.js";
export type { Call, CallOptions, DataOf, InitOf, Method, PathsOf, Schemas } from "./types.js";
export { verifyWebhook } from "./webhook.js";
export type { WebhookEvent, WebhookHeaders, WebhookOptions } from "./webhook.js";
