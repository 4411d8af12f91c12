import { counted, shortId } from "../words.js";

/** As the admin API sends it: the members depend on the type. */
export type TimelineEvent = { readonly id: string; readonly at: string } & TimelineFact;

type OfAttempt = { readonly attempt: number; readonly provider: string };
type OfDelivery = { readonly delivery: string; readonly endpoint: string };

type TimelineFact =
  | { readonly type: "accepted" | "charged" | "refunded"; readonly credits: number }
  | ({ readonly type: "attempt_started"; readonly model: string | null } & OfAttempt)
  | ({ readonly type: "attempt_accepted" | "attempt_finished" } & OfAttempt)
  | ({
      readonly type: "attempt_progress";
      readonly percent: number | null;
      readonly queue_position: number | null;
    } & OfAttempt)
  | ({
      readonly type: "attempt_failed";
      readonly state: string;
      readonly outcome: string | null;
      readonly retried: boolean;
      readonly message: string | null;
      readonly loss: string | null;
      readonly cost: unknown;
    } & OfAttempt)
  | ({ readonly type: "files_stored"; readonly files: number; readonly bytes: number } & OfAttempt)
  | { readonly type: "cancel_requested" | "completed" }
  | { readonly type: "failed"; readonly error: { readonly code: string; readonly message: string } }
  | ({
      readonly type: "delivery_tried";
      readonly number: number;
      readonly status: number | null;
      readonly failure: string | null;
      readonly message: string | null;
    } & OfDelivery)
  | ({ readonly type: "delivery_ended"; readonly state: string } & OfDelivery);

export interface Described {
  readonly tone: "plain" | "good" | "warn" | "bad";
  readonly title: string;
  readonly details: readonly string[];
  readonly link?: { readonly label: string; readonly href: string };
}

export function describe(event: TimelineEvent): Described {
  switch (event.type) {
    case "accepted":
      return plain("Accepted", `${counted(event.credits, "credit")} reserved`);
    case "attempt_started":
      return plain(`Attempt ${event.attempt} at ${event.provider}`, ...(event.model === null ? [] : [event.model]));
    case "attempt_accepted":
      return plain(`${event.provider} has it`);
    case "attempt_progress":
      return plain(
        `${event.provider} renders`,
        [
          ...(event.percent === null ? [] : [`${event.percent} %`]),
          ...(event.queue_position === null ? [] : [`${event.queue_position} before it`]),
        ].join(", "),
      );
    case "attempt_finished":
      return plain(`${event.provider} has finished it`);
    case "attempt_failed":
      return failure(event);
    case "files_stored":
      return plain(`${counted(event.files, "file")} stored`, sizeOf(event.bytes));
    case "cancel_requested":
      return { tone: "warn", title: "Cancellation requested", details: [] };
    case "charged":
      return plain(`${counted(event.credits, "credit")} charged`);
    case "refunded":
      return { tone: "warn", title: `${counted(event.credits, "credit")} refunded`, details: [] };
    case "completed":
      return { tone: "good", title: "Completed", details: [] };
    case "failed":
      return { tone: "bad", title: "Failed", details: [`${event.error.code}: ${event.error.message}`] };
    case "delivery_tried":
      return {
        tone: event.failure === null ? "good" : "warn",
        title: `Webhook, attempt ${event.number}: ${event.failure === null ? event.status : event.failure}`,
        details: [
          event.message ?? (event.failure === null || event.status === null ? "" : `status ${event.status}`),
        ].filter((text) => text !== ""),
        link: endpointLink(event),
      };
    case "delivery_ended":
      return {
        tone: event.state === "delivered" ? "good" : "bad",
        title: event.state === "delivered" ? "Webhook delivered" : `Webhook ${event.state}`,
        details: [],
        link: endpointLink(event),
      };
  }
}

function plain(title: string, ...details: readonly string[]): Described {
  return { tone: "plain", title, details: details.filter((text) => text !== "") };
}

function failure(event: Extract<TimelineEvent, { readonly type: "attempt_failed" }>): Described {
  const { attempt, provider, state, outcome, message, loss, retried, cost } = event;
  return {
    tone: retried ? "warn" : "bad",
    title: `Attempt ${attempt} at ${provider} ${state}`,
    details: [
      ...(outcome === null || outcome === state ? [] : [`Kind: ${outcome.replaceAll("_", " ")}`]),
      ...(message === null ? [] : [message]),
      ...(loss === null ? [] : [`Bought, and lost: ${loss.replaceAll("_", " ")}`]),
      ...(cost === null || cost === undefined ? [] : [`Billed: ${billed(cost)}`]),
      retried ? "Tried again" : "Not tried again",
    ],
  };
}

function billed(cost: unknown): string {
  const { amount, unit } = cost as { readonly amount?: number; readonly unit?: string };
  return amount === undefined ? JSON.stringify(cost) : `${amount} ${unit ?? ""}`;
}

function endpointLink({ endpoint }: OfDelivery): { readonly label: string; readonly href: string } {
  return { label: shortId(endpoint), href: `#/webhooks/${endpoint}` };
}

/** `22.1 MB`. */
export function sizeOf(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB"];
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${step === 0 ? bytes : (bytes / 1_000 ** step).toFixed(1)} ${units[step]}`;
}
