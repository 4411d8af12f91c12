import { useState } from "preact/hooks";
import { BASE_URL } from "../../parts/base.js";
import { Button, Field } from "../../parts/elements.js";
import { Fermata } from "./icons.js";
import { closedBecause, signIn } from "./session.js";
import { wordsOf } from "../words.js";

const REASONS = {
  link: (
    <>
      This link has expired, or is of another installation. The operator of this one gets a new link with{" "}
      <code>fermata studio link</code>; <code>npm start</code> prints one too. Or sign in with an API key.
    </>
  ),
  ended: <>Your session has ended. Sign in again to go on.</>,
  unreachable: <>The server cannot be reached. Reload the page to try again.</>,
} as const;

export function SignIn() {
  const [key, setKey] = useState("");
  const [issue, setIssue] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const reason = closedBecause.value;

  const submit = async (): Promise<void> => {
    if (key.trim() === "") return setIssue("Paste your API key.");
    setBusy(true);
    setIssue(undefined);
    try {
      await signIn(key.trim());
    } catch (error) {
      setBusy(false);
      setIssue(wordsOf(error as Error));
    }
  };

  return (
    <>
      <div class="backdrop" aria-hidden="true" />
      <main class="door">
        <div class="card">
          <div class="cover blank">
            <Fermata />
          </div>
          <div class="about">
            <h1>Make music</h1>
            <p class="soft">
              This is Fermata, a self-hosted platform for AI music. Say what you would like to hear, and listen: here,
              or from your own programs over the <a href={`${BASE_URL}docs`}>API</a>.
            </p>
            {reason === null ? null : (
              <p class="note warn" role="alert">
                {REASONS[reason]}
              </p>
            )}
            <form
              onSubmit={(event) => {
                event.preventDefault();
                if (!isBusy) void submit();
              }}
            >
              <Field label="API key" issue={issue} hint="It stays between this browser and this server.">
                {(attributes) => (
                  <input
                    {...attributes}
                    type="password"
                    name="api-key"
                    autocomplete="current-password"
                    placeholder="frm_…"
                    spellcheck={false}
                    value={key}
                    onInput={(event) => setKey(event.currentTarget.value)}
                  />
                )}
              </Field>
              <Button look="primary" type="submit" isBusy={isBusy}>
                Open the studio
              </Button>
            </form>
          </div>
        </div>
      </main>
    </>
  );
}
