import type { WebhookBody } from "../presenters/webhook-event.js";
import * as example from "./examples.js";
import type { OpenApiDocument, Parameter, Schema, WebhookOperation } from "./model.js";

type EventType = WebhookBody["type"];

/** What ended, and the job of an example. */
const EVENTS: Readonly<Record<EventType, { readonly summary: string; readonly job: WebhookBody["data"] }>> = {
  "generation.completed": { summary: "Generation completed", job: example.WEBHOOK_EVENT.body.data },
  "generation.failed": { summary: "Generation failed", job: example.ended(example.FAILED_JOB) },
  "stem_split.completed": { summary: "Stem split completed", job: example.ended(example.SPLIT_JOB) },
  "stem_split.failed": { summary: "Stem split failed", job: failedSplit("stem_split") },
  "vocal_removal.completed": {
    summary: "Vocal removal completed",
    job: example.ended({ ...example.SPLIT_JOB, operation: "vocal_removal", credits_charged: 5 }),
  },
  "vocal_removal.failed": { summary: "Vocal removal failed", job: failedSplit("vocal_removal") },
};

const HEADERS: readonly Parameter[] = [
  {
    in: "header",
    name: "webhook-id",
    required: true,
    description: "The event's id. It is the same on every attempt: remember those that you have seen.",
    schema: { type: "string" },
    example: example.WEBHOOK_EVENT.id,
  },
  {
    in: "header",
    name: "webhook-timestamp",
    required: true,
    description: "When the attempt was sent, in seconds since 1970. Refuse what is more than some minutes away.",
    schema: { type: "integer" },
    example: 1_795_242_609,
  },
  {
    in: "header",
    name: "webhook-signature",
    required: true,
    description:
      "Signatures by the Standard Webhooks specification, separated by spaces; one of them has to be right. Each is " +
      "`v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`, with the bytes of the body as they came. Its " +
      "key is the base64 behind `whsec_` of the endpoint's `signing_secret`. While a secret is replaced there are " +
      "several.",
    schema: { type: "string", pattern: "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$" },
    example: "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  },
];

const RESPONSES: WebhookOperation["responses"] = {
  204: { description: "Received, as any status of 200 to 299 says within 15 seconds. Redirects are not followed." },
  410: { description: "The endpoint is not wanted any more: it is disabled." },
  503: { description: "Try again later, as any other status says; `Retry-After` is kept on 429 and 503." },
};

/** What is posted to webhook endpoints, by the event's type: one schema for each. */
export function describeWebhooks(): NonNullable<OpenApiDocument["webhooks"]> {
  const ends = Object.entries(EVENTS).map(([type, { summary, job }]) => {
    const body: WebhookBody = { type: type as EventType, timestamp: job.completed_at ?? "", data: job };
    const description =
      "Posted to every endpoint that is active when the job ends, at least once. `data` is the job as " +
      "`GET /api/v1/jobs/{job_id}` shows it, with the `client` and `metadata` of its request.";
    return [type, { post: delivery(summary, description, bodySchema(type, endedJob(job.status)), body) }] as const;
  });
  return { ...Object.fromEntries(ends), "webhook.ping": { post: ping() } };
}

/** A job as events have it, with the status of this one. */
function endedJob(status: string): Schema {
  const own: Schema = {
    type: "object",
    properties: { status: { type: "string", enum: [status] } },
    ...(status === "failed" ? { required: ["error"] } : {}),
  };
  return { allOf: [{ $ref: "#/components/schemas/EndedJob" }, own] };
}

function bodySchema(type: string, data: Schema): Schema {
  return closed({
    type: { type: "string", enum: [type] },
    timestamp: { type: "string", format: "date-time", description: "When it happened." },
    data,
  });
}

/** An object with all of these members, and no others. */
function closed(properties: NonNullable<Schema["properties"]>): Schema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

function ping(): WebhookOperation {
  const endpointId: Schema = { type: "string", description: "The endpoint that it is posted to." };
  const schema = bodySchema("webhook.ping", closed({ endpoint_id: endpointId }));
  const data = { endpoint_id: example.WEBHOOK_ENDPOINT.id };
  const body = { type: "webhook.ping", timestamp: "2026-11-21T06:30:00.000Z", data };
  return delivery("Ping", "Posted once when an operator tries an endpoint.", schema, body);
}

function delivery(summary: string, description: string, schema: Schema, value: object): WebhookOperation {
  return {
    summary,
    description,
    tags: ["Webhooks"],
    security: [],
    parameters: [...HEADERS],
    requestBody: { required: true, content: { "application/json": { schema, examples: { event: { value } } } } },
    responses: RESPONSES,
  };
}

function failedSplit(operation: string): WebhookBody["data"] {
  return example.ended({ ...example.FAILED_JOB, operation });
}
