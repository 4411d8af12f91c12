import { wholeNumber } from "../../parts/format.js";
import type { Sent } from "./send.js";

interface OutcomeProps {
  readonly sent: Sent | undefined;
  readonly error: string | undefined;
  /** The one that was sent. */
  readonly idempotencyKey: string | undefined;
}

/** The response: status, time, headers, body. */
export function Outcome({ sent, error, idempotencyKey }: OutcomeProps) {
  return (
    <div class="outcome">
      <p role="status">{sent === undefined ? null : <Head sent={sent} />}</p>
      {error === undefined ? null : (
        <p class="note bad" role="alert">
          {error}
        </p>
      )}
      {idempotencyKey === undefined ? null : (
        <p class="soft sent-key">
          Idempotency-Key: <code>{idempotencyKey}</code>
        </p>
      )}
      {sent === undefined ? null : (
        <>
          <div class="code">
            <pre tabIndex={0} aria-label="Body of the response">
              <code>{sent.text}</code>
            </pre>
          </div>
          <details>
            <summary>Headers of the response</summary>
            <dl class="headers">
              {sent.headers.map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </details>
        </>
      )}
    </div>
  );
}

function Head({ sent: { status, statusText, ms, headers, isWhole } }: { readonly sent: Sent }) {
  const isReplayed = headers.some(([name]) => name === "idempotent-replayed");
  return (
    <>
      <span class={`badge ${status < 400 ? "good" : "bad"}`}>
        {status} {statusText}
      </span>{" "}
      <span class="soft">
        in {wholeNumber(ms)} ms{isWhole ? "" : ", still open"}
      </span>
      {isReplayed ? <span class="badge warn">stored response, sent again</span> : null}
    </>
  );
}
