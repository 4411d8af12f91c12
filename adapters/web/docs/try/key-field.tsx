import { useState } from "preact/hooks";
import { Button, Field } from "../../parts/elements.js";
import { apiKey, hasSession } from "./access.js";

/** The key that all forms of the page use. */
export function KeyField() {
  const [isChanging, setChanging] = useState(apiKey.value === "");
  if (!isChanging && apiKey.value !== "") {
    return (
      <p class="row key">
        <span>
          With the key <code>{apiKey.value.slice(0, 8)}…</code>
        </span>
        <Button onClick={() => setChanging(true)}>Change</Button>
      </p>
    );
  }
  const hint = hasSession.value
    ? "Empty: as the account that is signed in at the studio."
    : "Kept in the memory of this page alone, for every form; gone when it closes.";
  return (
    <Field label="API key" hint={hint}>
      {(attributes) => (
        <input
          {...attributes}
          type="password"
          autocomplete="off"
          placeholder="frm_…"
          spellcheck={false}
          value={apiKey.value}
          onInput={(event) => (apiKey.value = event.currentTarget.value.trim())}
        />
      )}
    </Field>
  );
}
