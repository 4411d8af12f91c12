import { useEffect, useState } from "preact/hooks";
import type { Outlook } from "./follow.js";

const TICK_MS = 500;
/** What is only expected is never shown as done. */
const EXPECTED_MAX = 96;

export interface Underway {
  readonly outlook?: Outlook | undefined;
  readonly created_at: string;
}

/** How far a job is, in a bar and in words. */
export function Progress({ generation: { outlook, created_at: createdAt } }: { readonly generation: Underway }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const percent = percentOf(outlook, Date.parse(createdAt), now);
  const words = wordsFor(outlook, now);
  return (
    <div class="progress">
      <progress max={100} {...(percent === null ? {} : { value: percent })} aria-label="Progress" />
      <p class="soft">{words}</p>
    </div>
  );
}

/** null: nothing is known. */
function percentOf(outlook: Outlook | undefined, createdAt: number, now: number): number | null {
  if (outlook === undefined) return null;
  if (outlook.percent !== null && outlook.percent > 0) return outlook.percent;
  if (outlook.ends_at === null) return null;
  const end = Date.parse(outlook.ends_at);
  return Math.min(EXPECTED_MAX, Math.max(2, (100 * (now - createdAt)) / Math.max(1, end - createdAt)));
}

function wordsFor(outlook: Outlook | undefined, now: number): string {
  if (outlook === undefined) return "On its way…";
  const left = outlook.ends_at === null ? "" : leftUntil(Date.parse(outlook.ends_at), now);
  if (outlook.state === "waiting" || outlook.state === "retrying") {
    const before = outlook.waiting_before ?? 0;
    const why = outlook.state === "retrying" ? "The provider is busy; it is tried again" : "Waiting for its turn";
    const place = before === 0 ? "" : `, ${before} before it`;
    return `${why}${place}${left === "" ? "…" : left}`;
  }
  const place = outlook.queue_position === null ? "" : `, ${outlook.queue_position} before it at the provider`;
  return `Composing${place}${left === "" ? "…" : left}`;
}

/** `, about 12 s left`. */
function leftUntil(end: number, now: number): string {
  const seconds = Math.ceil((end - now) / 1000);
  if (seconds <= 1) return ", almost done";
  return seconds < 90 ? `, about ${seconds} s left` : `, about ${Math.round(seconds / 60)} min left`;
}
