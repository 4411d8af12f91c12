import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { printable } from "../../../core/printable.js";
import type { CliHost } from "../host.js";
import { addCommand } from "../output.js";
import { moment } from "../values.js";
import { type CallerApi, CallerApiError, type CallerEvent } from "./caller-api.js";
import { addServerOptions, connect, type ServerFlags } from "./server.js";

interface ListenFlags extends ServerFlags {
  readonly forward?: string;
  readonly since?: number;
  readonly json?: boolean;
}

const POLL_MS = 2_000;
const PAGE = 100;
const FORWARD_TIMEOUT_MS = 15_000;
const SECRET_VARIABLE = "FERMATA_WEBHOOK_SECRET";

/** `webhooks listen`. */
export function addListen(webhooks: Command, host: CliHost): void {
  const command = addCommand(webhooks, "listen", "Print the events of a server as they come, or send them on", [
    "webhooks listen",
    "webhooks listen --since 2026-11-20T00:00:00Z --json",
    "webhooks listen --forward http://localhost:3000/hook",
  ])
    .option("--forward <url>", "POST each one there, signed as a webhook is")
    .option("--since <time>", "begin with those of this time; default: now", moment)
    .addHelpText(
      "after",
      "\nIt asks the server again and again, so that it works behind a firewall. Ctrl-C ends it. With --forward it\n" +
        `prints the secret to verify with; ${SECRET_VARIABLE} sets one.\n`,
    );
  addServerOptions(command).action(async (flags: ListenFlags, self: Command) => {
    const forward = flags.forward === undefined ? null : receiverOf(flags.forward, self);
    const api = await connect(host, flags, self);
    const stopping = new AbortController();
    const forget = host.caller.onInterrupt(() => stopping.abort());
    try {
      await listen(host, api, flags, forward, stopping.signal);
    } finally {
      forget();
    }
  });
}

function receiverOf(text: string, command: Command): string {
  if (!URL.canParse(text) || !["http:", "https:"].includes(new URL(text).protocol))
    command.error("error: --forward is no address. Allowed: one such as http://localhost:3000/hook");
  return text;
}

async function listen(
  host: CliHost,
  api: CallerApi,
  { since, json }: ListenFlags,
  forward: string | null,
  signal: AbortSignal,
): Promise<void> {
  const note = (line: string): void => void host.stderr.write(`${printable(line)}\n`);
  const secret = forward === null ? "" : secretOf(host);
  if (forward !== null) note(`Sending to ${forward}, signed with ${secret}`);
  for await (const event of eventsFrom(api, since, note, signal)) {
    host.stdout.write(`${printable(json === true ? JSON.stringify(event) : lineOf(event))}\n`);
    if (forward === null) continue;
    const message = { eventId: event.id, body: JSON.stringify(event.body), secret };
    note(await send(host, forward, message, signal));
  }
}

function secretOf({ caller: { env } }: CliHost): string {
  const given = env[SECRET_VARIABLE] ?? "";
  return given === "" ? `whsec_${randomBytes(32).toString("base64")}` : given;
}

function lineOf({ id, body: { type, timestamp, data } }: CallerEvent): string {
  const { job_id: job = "" } = data as { readonly job_id?: string };
  return [timestamp, type, job, id].join("  ");
}

/**
 * Goes on until `signal` aborts, also when the server cannot be reached for a while.
 *
 * @param since undefined: only what comes after the newest event of now, whatever the clocks say
 */
async function* eventsFrom(
  api: CallerApi,
  since: number | undefined,
  note: (line: string) => void,
  signal: AbortSignal,
): AsyncGenerator<CallerEvent> {
  let after: string | undefined;
  let isSkipping = since === undefined;
  let isLost = false;
  while (!signal.aborted) {
    let pauseMs = POLL_MS;
    try {
      const page = await api.events({ ...(after === undefined ? {} : { after }), limit: PAGE });
      if (isLost) note("The server responds again.");
      isLost = false;
      for (const event of isSkipping ? [] : page.events) {
        if (Date.parse(event.body.timestamp) >= (since ?? 0)) yield event;
      }
      after = page.next_cursor ?? after;
      isSkipping &&= page.has_more;
      if (page.has_more) pauseMs = 0;
    } catch (error) {
      if (!(error instanceof CallerApiError) || isRefusal(error)) throw error;
      if (!isLost) note(`${error.message} Trying again.`);
      isLost = true;
    }
    await sleep(pauseMs, null, { signal }).catch(() => undefined);
  }
}

function isRefusal({ status }: CallerApiError): boolean {
  return status !== null && status < 500 && status !== 429;
}

/** @returns what became of it */
async function send(
  { caller }: CliHost,
  url: string,
  message: { readonly eventId: string; readonly body: string; readonly secret: string },
  signal: AbortSignal,
): Promise<string> {
  const startedAt = performance.now();
  try {
    const response = await caller.fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: { "Content-Type": "application/json", ...(await caller.signWebhook(message)) },
      body: message.body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(FORWARD_TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return `  ${message.eventId}: HTTP ${response.status} after ${Math.round(performance.now() - startedAt)} ms`;
  } catch (error) {
    const { cause } = error as Error;
    return `  ${message.eventId}: not sent: ${cause instanceof Error ? cause.message : (error as Error).message}`;
  }
}
