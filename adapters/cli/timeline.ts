import type { JobTimeline } from "../../core/jobs/read-timelines.js";
import type { TimelineEvent } from "../../core/jobs/timeline.js";
import type { JobOutlook } from "../../core/providers/outlook.js";
import { iso, table } from "./output.js";

type Of<Type extends TimelineEvent["type"]> = Extract<TimelineEvent, { type: Type }>;

/** A line for each event, and what is expected of a job that has not ended. */
export function describeTimeline({ events, outlook }: JobTimeline): string[] {
  return [...table(events.map((event) => [iso(event.at), describeEvent(event)])), ...describeOutlook(outlook)];
}

function describeEvent(event: TimelineEvent): string {
  switch (event.type) {
    case "accepted":
      return `accepted; ${event.credits} credits reserved`;
    case "attempt_started":
      return `attempt ${event.attempt} at ${event.provider}${event.model === null ? "" : `, ${event.model}`}`;
    case "attempt_accepted":
      return `${event.provider} has it`;
    case "attempt_progress":
      return `${event.provider}: ${progressOf(event)}`;
    case "attempt_finished":
      return `${event.provider} has completed it`;
    case "attempt_failed":
      return describeFailure(event);
    case "files_stored":
      return `${event.files} files stored, ${event.bytes} bytes`;
    case "cancel_requested":
      return "cancellation requested";
    case "charged":
    case "refunded":
      return `${event.credits} credits ${event.type}`;
    case "completed":
      return "completed";
    case "failed":
      return `failed: ${event.error.code}: ${event.error.message}`;
    case "delivery_tried":
      return `webhook to ${event.endpoint}, attempt ${event.number}: ${replyTo(event)}`;
    case "delivery_ended":
      return `webhook to ${event.endpoint} ${event.state}`;
  }
}

function describeFailure({ attempt, provider, state, outcome, loss, retried, message }: Of<"attempt_failed">): string {
  const kind = outcome === null || outcome === state ? state : `${state} (${outcome})`;
  const lost = loss === null ? "" : `, lost: ${loss}`;
  const next = retried ? ", tried again" : "";
  return `attempt ${attempt} at ${provider} ${kind}${lost}${next}${message === null ? "" : `: ${message}`}`;
}

function replyTo({ status, failure, message }: Of<"delivery_tried">): string {
  if (failure === null) return String(status);
  return message === null ? failure : `${failure}: ${message}`;
}

function progressOf({ percent, queuePosition }: { percent: number | null; queuePosition: number | null }): string {
  const parts = [
    ...(percent === null ? [] : [`${percent} %`]),
    ...(queuePosition === null ? [] : [`${queuePosition} before it`]),
  ];
  return parts.join(", ");
}

function describeOutlook({ state, waitingBefore, startsAt, endsAt, ...progress }: JobOutlook): string[] {
  if (state === "ended") return [];
  const said = progressOf(progress);
  return table([
    ["state", said === "" ? state : `${state} (${said})`],
    ...(waitingBefore === null ? [] : [["waiting before it", String(waitingBefore)]]),
    ...(startsAt === null ? [] : [["expected to begin", iso(startsAt)]]),
    ["expected to end", iso(endsAt) ?? "not known"],
  ]);
}
