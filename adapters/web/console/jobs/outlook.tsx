import { Time } from "../../parts/time.js";
import type { Schemas } from "../api.js";

const STANDS: Readonly<Record<string, string>> = {
  waiting: "Waiting for a worker",
  retrying: "Waiting for the next attempt",
  submitting: "Being submitted to the provider",
  rendering: "The provider renders it",
};

/** Where a job stands that has not ended, and what is expected of it. */
export function OutlookNote({ outlook }: { readonly outlook: Schemas["Outlook"] }) {
  if (outlook.state === "ended") return null;
  const { percent, waiting_before: before, queue_position: position, starts_at: starts, ends_at: ends } = outlook;
  return (
    <div class="note outlook">
      <p>
        <strong>{STANDS[outlook.state]}</strong>
        {before === null ? null : `, ${before} before it`}
        {position === null ? null : `, ${position} before it at the provider`}
        {percent === null ? null : `, ${percent} %`}
        {starts === null ? null : (
          <>
            , begins <Time at={starts} />
          </>
        )}
        {ends === null ? null : (
          <>
            , ends <Time at={ends} />
          </>
        )}
        .
      </p>
      {percent === null ? null : <progress max={100} value={percent} aria-label="Progress" />}
    </div>
  );
}
