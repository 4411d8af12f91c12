import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../parts/api-error.js";
import { Button, ErrorNote, Field } from "../../parts/elements.js";
import { Mark } from "../../parts/icons.js";
import { signIn } from "../session.js";

/** Exchanges an admin token for a session, which the page itself does not see. */
export function SignIn() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  useEffect(() => {
    document.title = "Sign in · Fermata console";
  }, []);
  const isWrong = error instanceof ApiError && error.isSignedOut;

  const submit = async (form: HTMLFormElement): Promise<void> => {
    const token = new FormData(form).get("token") as string;
    setBusy(true);
    setError(undefined);
    try {
      await signIn(token.trim());
    } catch (refusal) {
      setError(refusal as Error);
      setBusy(false);
    }
  };

  return (
    <main class="alone">
      <div class="card sign-in">
        <Mark />
        <h1>Console</h1>
        <p class="soft">See and steer this installation of Fermata.</p>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void submit(event.currentTarget);
          }}
          noValidate
        >
          <Field
            label="Admin token"
            hint={
              <>
                That of the setting <code>admin.token</code>, or one that <code>fermata admin-tokens issue</code> has
                shown.
              </>
            }
            issue={isWrong ? error.message : undefined}
          >
            {(attributes) => (
              <input {...attributes} name="token" type="password" autocomplete="current-password" autofocus required />
            )}
          </Field>
          {error === undefined || isWrong ? null : <ErrorNote error={error} />}
          <Button type="submit" look="primary" isBusy={isBusy}>
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}
