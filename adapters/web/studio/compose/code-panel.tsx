import { useMemo, useState } from "preact/hooks";
import { newIdempotencyKey } from "../../../client/key.js";
import { PUBLIC_URL } from "../api.js";
import { codeOf, type Language, LANGUAGES } from "./code.js";
import { CopyButton } from "../shell/copy.js";
import { request } from "./form.js";

/** The request of the form, as one would send it from elsewhere. */
export function CodePanel() {
  const [language, setLanguage] = useState<Language>("curl");
  const [copies, setCopies] = useState(0);
  const asked = request.value;
  const text = JSON.stringify(asked);
  // Every request that is carried out needs a key of its own.
  const key = useMemo(newIdempotencyKey, [text, language, copies]);
  if (asked === null) return null;
  const code = codeOf(language, { publicUrl: PUBLIC_URL, request: asked, key });
  return (
    <details class="more code">
      <summary>The same as code</summary>
      <div class="segments" role="group" aria-label="Language">
        {LANGUAGES.map((name) => (
          <label key={name}>
            <input type="radio" name="language" checked={language === name} onChange={() => setLanguage(name)} />
            <span>{name}</span>
          </label>
        ))}
      </div>
      <pre tabIndex={0} aria-label={`The request in ${language}`}>
        <code>{code}</code>
      </pre>
      <div class="row">
        <CopyButton label="Copy" text={() => code} onCopied={() => setCopies((count) => count + 1)} />
        <span class="hint">
          Needs your API key: <code>export FERMATA_API_KEY=frm_…</code>
        </span>
      </div>
    </details>
  );
}
