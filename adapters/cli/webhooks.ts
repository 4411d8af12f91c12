import type { Command } from "commander";
import type { DeliveryAttempt } from "../../core/ports/webhook-records.js";
import type { DeliveryReport } from "../../core/webhooks/operate-webhooks.js";
import { addListen } from "./caller/listen.js";
import type { CliHost } from "./host.js";
import { accountIn, addCommand, addGroup, CommandFailed, iso, print, table, withApp, withProgress } from "./output.js";
import { moment, wholeNumberWithin } from "./values.js";

const HOUR_MS = 3_600_000;

interface ResendOptions {
  readonly endpoint?: string;
  readonly since?: number;
  readonly after?: string;
  readonly json?: boolean;
}

/** `webhooks …`. */
export function addWebhookCommands(program: Command, host: CliHost): void {
  const webhooks = addGroup(program, "webhooks", "Look at webhook endpoints and their deliveries, and fix them");
  addCommand(webhooks, "endpoints <account>", "List an account's webhook endpoints, newest first", [
    "webhooks endpoints acct_01j…",
  ]).action(async (account: string, options: { json?: boolean }) => {
    await withApp(host, async (app, present) => {
      const id = await accountIn(app, account);
      const list = await app.webhooks.endpoints.list(id, "all");
      const rows = list.map(({ id: endpoint, status, disabledBy, url }) => [
        endpoint,
        disabledBy === null ? status : `${status} (${disabledBy})`,
        url,
      ]);
      const shown = list.map((endpoint) => ({
        ...present.webhookEndpoint(endpoint),
        disabled_by: endpoint.disabledBy,
      }));
      print(host, options, { endpoints: shown }, rows.length === 0 ? ["No webhook endpoints."] : table(rows));
    });
  });
  addCommand(webhooks, "deliveries <endpoint>", "List an endpoint's deliveries with every try, newest first", [
    "webhooks deliveries whe_01j…",
    "webhooks deliveries whe_01j… --limit 200 --json",
  ])
    .option("--limit <n>", "at most this many, 1 to 1000", wholeNumberWithin(1, 1_000), 50)
    .action(async (endpoint: string, options: { limit: number; json?: boolean }) => {
      const reports = await withApp(host, (app) => app.webhooks.deliveries(endpoint, options.limit));
      const lines = reports.length === 0 ? ["No deliveries."] : reports.flatMap(describeDelivery);
      print(host, options, { deliveries: reports.map(presentDelivery) }, lines);
    });
  addResendCommand(webhooks, host);
  addCommand(
    webhooks,
    "ping <endpoint>",
    "Send `webhook.ping`, by the same way as every delivery; exit code 1 when it fails",
    ["webhooks ping whe_01j…"],
  ).action(async (endpoint: string, options: { json?: boolean }) => {
    const created = await withApp(host, (app) => app.webhooks.ping(endpoint, never()));
    printDeliveryAttempt(host, options, created);
  });
  addCommand(webhooks, "rotate-secret <endpoint>", "Give an endpoint a new signing secret; it is shown this once", [
    "webhooks rotate-secret whe_01j…",
    "webhooks rotate-secret whe_01j… --overlap-hours 0",
  ])
    .option(
      "--overlap-hours <n>",
      "how long the old secret signs alongside the new one, 0 to 168; 0 when it has leaked",
      wholeNumberWithin(0, 168),
      24,
    )
    .action(async (endpoint: string, options: { overlapHours: number; json?: boolean }) => {
      const { secret } = await withApp(host, (app) =>
        app.webhooks.rotateSecret(endpoint, options.overlapHours * HOUR_MS),
      );
      print(host, options, { id: endpoint, signing_secret: secret, overlap_hours: options.overlapHours }, [
        `secret  ${secret}`,
        options.overlapHours === 0
          ? "The old secret signs no more."
          : `The old secret signs alongside it for ${options.overlapHours} h.`,
      ]);
    });
  addListen(webhooks, host);
}

function addResendCommand(webhooks: Command, host: CliHost): void {
  addCommand(
    webhooks,
    "resend [delivery]",
    "Send one delivery once more, or all that an endpoint did not get since a moment",
    [
      "webhooks resend dlv_01j…",
      "webhooks resend --endpoint whe_01j… --since 2026-11-20T00:00:00Z",
      "webhooks resend --endpoint whe_01j… --since 2026-11-20T00:00:00Z --after dlv_01j…",
    ],
  )
    .option("--endpoint <id>", "its exhausted and dropped deliveries, the oldest first")
    .option("--since <time>", "created at or after this time, at most 14 days ago", moment)
    .option("--after <delivery>", "go on after this one")
    .action(async (delivery: string | undefined, options: ResendOptions, command: Command) => {
      if ((delivery === undefined) === (options.endpoint === undefined))
        command.error("error: name a delivery, or --endpoint with --since");
      if (delivery !== undefined) return resendOne(host, delivery, options);
      if (options.since === undefined) command.error("error: --endpoint needs --since");
      return resendRange(host, options.endpoint as string, options.since, options);
    });
}

async function resendOne(host: CliHost, delivery: string, options: ResendOptions): Promise<void> {
  const created = await withApp(host, (app) => app.webhooks.resend(delivery, never()));
  printDeliveryAttempt(host, options, created);
}

async function resendRange(host: CliHost, endpoint: string, since: number, options: ResendOptions): Promise<void> {
  await withApp(host, async (app) => {
    let done = { sent: 0, delivered: 0, last: null as string | null };
    await withProgress(host, "Sending", async () => {
      const after = options.after === undefined ? {} : { after: options.after };
      for await (const { sent, delivered, last } of app.webhooks.resendSince(endpoint, since, {
        ...after,
        signal: never(),
      })) {
        done = { sent, delivered, last: last.id };
      }
    });
    const end = done.last === null ? "" : ` The last was ${done.last}.`;
    print(host, options, done, [`${done.sent} sent, ${done.delivered} delivered.${end}`]);
    if (done.delivered < done.sent) throw new CommandFailed();
  });
}

function printDeliveryAttempt(host: CliHost, options: { readonly json?: boolean }, created: DeliveryAttempt): void {
  print(host, options, { id: created.deliveryId, ...presentDeliveryAttempt(created) }, [
    `${created.deliveryId}  ${describeDeliveryAttempt(created)}`,
  ]);
  if (created.failure !== null) throw new CommandFailed();
}

function presentDelivery({ delivery, tries }: DeliveryReport): object {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    state: delivery.state,
    attempts: delivery.attempts,
    next_try_at: delivery.state === "pending" ? iso(delivery.dueAt) : null,
    created_at: iso(delivery.createdAt),
    tries: tries.map(presentDeliveryAttempt),
  };
}

function presentDeliveryAttempt({
  number,
  startedAt,
  isManual,
  status,
  failure,
  message,
  excerpt,
  phases,
}: DeliveryAttempt): object {
  return {
    number,
    started_at: iso(startedAt),
    manual: isManual,
    delivered: failure === null,
    status,
    failure,
    message,
    response: excerpt,
    dns_ms: phases.dnsMs,
    connect_ms: phases.connectMs,
    tls_ms: phases.tlsMs,
    first_byte_ms: phases.firstByteMs,
    total_ms: phases.totalMs,
  };
}

function describeDelivery({ delivery, tries }: DeliveryReport): string[] {
  const next = delivery.state === "pending" && delivery.dueAt !== null ? `  next try ${iso(delivery.dueAt)}` : "";
  return [
    `${delivery.id}  ${delivery.eventId}  ${delivery.state}${next}`,
    ...tries.map((created) => `  try ${created.number}  ${describeDeliveryAttempt(created)}`),
  ];
}

function describeDeliveryAttempt({ startedAt, isManual, status, failure, message, phases }: DeliveryAttempt): string {
  const outcome = failure === null ? "delivered" : `${failure}: ${message ?? ""}`;
  const answered = status === null ? "" : `  HTTP ${status}`;
  return `${iso(startedAt)}${isManual ? "  by hand" : ""}${answered}  ${Math.round(phases.totalMs)} ms  ${outcome}`;
}

/** A command runs to its end; Ctrl-C ends the process, and an attempt under way is recorded by then or sent again. */
function never(): AbortSignal {
  return new AbortController().signal;
}
