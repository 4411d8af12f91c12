import { asObject, ProviderFailure } from "../sdk/index.js";
import type { JsonObject, CancelOutcome, ProviderTrack } from "../sdk/index.js";
import { isRefusal } from "./errors.js";
import { lyricsIn, trackOf } from "./map.js";

const RUNNING: ReadonlySet<unknown> = new Set(["queued", "in_progress"]);

/** The state of an interaction. `unclear`: the response does not contain it. */
export type Interaction =
  | { readonly state: "running"; readonly id: string }
  | { readonly state: "completed"; readonly tracks: readonly ProviderTrack[] }
  | { readonly state: "ended"; readonly failure: ProviderFailure }
  | { readonly state: "unclear" };

export function interactionIn(body: unknown): Interaction {
  const { id, status } = asObject(body);
  if (typeof status !== "string") return { state: "unclear" };
  if (RUNNING.has(status)) return typeof id === "string" && id !== "" ? { state: "running", id } : { state: "unclear" };
  if (status === "cancelled") return ended("cancelled", "It was cancelled there.", status);
  const content = stepsIn(asObject(body)).flatMap(({ content }) =>
    Array.isArray(content) ? content.map(asObject) : [],
  );
  const sounds = content.filter(({ type }) => type === "audio").map(({ data }) => trackOf(data));
  // The last one is the final one.
  const track = sounds.findLast((sound) => sound !== null) ?? null;
  if (track !== null && status !== "failed") {
    const texts = content.filter(({ type }) => type === "text").map(({ text }) => text);
    return { state: "completed", tracks: [{ ...track, ...lyricsIn(texts) }] };
  }
  const { code, message } = errorIn(asObject(body)) ?? {};
  const detail = typeof message === "string" ? `: ${message.replace(/\s+/gu, " ").slice(0, 300)}` : ".";
  const reason = typeof code === "string" || typeof code === "number" ? String(code) : status;
  const kind = isRefusal(`${detail} ${reason}`) ? "content_rejected" : "failed";
  return ended(kind, `It made no music, and is ${status}${detail}`, reason);
}

/** The outcome in the response to a cancellation. */
export function cancelOutcomeIn(body: unknown): CancelOutcome {
  const { status } = asObject(body);
  if (status === "cancelled") return "cancelled";
  return typeof status !== "string" || RUNNING.has(status) ? "requested" : "too_late";
}

/** The model's steps; Lyria 3 may list its `outputs` in their place. */
function stepsIn({ steps, outputs }: JsonObject): readonly JsonObject[] {
  if (Array.isArray(steps)) return steps.map(asObject).filter(({ type }) => type === "model_output");
  return [{ content: outputs }];
}

/** The error of the interaction, or of a step. */
function errorIn(body: JsonObject): JsonObject | undefined {
  const { errors, error } = body;
  const ofAll = Array.isArray(errors) ? (errors as readonly unknown[]) : [];
  const ofSteps = stepsIn(body).map((step) => step["error"]);
  const found = [...ofAll, error, ...ofSteps].map(asObject);
  return found.find((object) => object["message"] !== undefined || object["code"] !== undefined);
}

function ended(kind: "cancelled" | "content_rejected" | "failed", message: string, code: string): Interaction {
  return { state: "ended", failure: new ProviderFailure(kind, message, { providerCode: code }) };
}
