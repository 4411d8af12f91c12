import { useMemo, useState } from "preact/hooks";
import { newIdempotencyKey } from "../../../client/key.js";
import { PUBLIC_URL } from "../../parts/base.js";
import { CodePanel as SharedPanel } from "../../parts/code-panel.js";
import { request } from "./form.js";

/** The request of the form, as one would send it from elsewhere. */
export function CodePanel() {
  const [copies, setCopies] = useState(0);
  const asked = request.value;
  const text = JSON.stringify(asked);
  const copied = (): void => setCopies((count) => count + 1);
  // Every request that is carried out needs a key of its own.
  const key = useMemo(newIdempotencyKey, [text, copies]);
  if (asked === null) return null;
  return (
    <details class="more code-of-form">
      <summary>The same as code</summary>
      <SharedPanel
        request={{
          method: "POST",
          base: PUBLIC_URL,
          path: "/api/v1/generations",
          pathParameters: {},
          query: {},
          headers: { "Idempotency-Key": key, Prefer: "wait=55" },
          body: { json: asked },
          shows: "job",
        }}
        onCopied={copied}
        onLanguage={copied}
      />
    </details>
  );
}
