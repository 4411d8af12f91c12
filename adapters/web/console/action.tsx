import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ApiError } from "../parts/api-error.js";
import { Copy } from "../parts/copy.js";
import { Dialog } from "../parts/dialog.js";
import { Button, ErrorNote, Field } from "../parts/elements.js";
import { newIdempotencyKey } from "../../client/key.js";
import { say } from "../parts/toast.js";
import { type ActionField, FieldControl, issueOf } from "./action-field.js";
import { because } from "./api.js";
import { may, type Role } from "./session.js";

/** What an action came to: a text to say, or something to be read before the dialog closes. */
export type Outcome =
  | string
  | {
      readonly says: string;
      readonly isBad?: boolean;
      /** Shown this once, to be copied. */
      readonly secret?: string;
      readonly what?: string;
    };

/** One opening of the dialog of an action. */
export interface Opened {
  /** The same however often it is submitted: by it a request whose response was lost is recognised. */
  readonly key: string;
  /** With the files that were chosen; of these the values have the names. */
  readonly data: FormData;
}

interface ActionProps {
  /** On the button that opens the dialog. */
  readonly label: string;
  /** The role that it needs: without it there is no button. */
  readonly needs: Role;
  readonly look?: "plain" | "primary" | "danger";
  /** The heading of the dialog. */
  readonly title: string;
  /** What will happen, to credits and data above all. */
  readonly children?: ComponentChildren;
  readonly fields?: readonly ActionField[];
  /** To be typed before anything happens. */
  readonly typed?: string;
  /** On the button that does it. */
  readonly submit: string;
  readonly run: (
    values: Readonly<Record<string, string>>,
    headers: { "X-Reason"?: string },
    opened: Opened,
  ) => Promise<Outcome>;
  /** Afterwards, when the outcome was read: reads what has changed. */
  readonly onDone: () => void;
}

/** A button with the dialog that says what it does, asks for what it needs and for the reason, and does it. */
export function Action(props: ActionProps) {
  const [isOpen, setOpen] = useState(false);
  if (!may(props.needs)) return null;
  return (
    <>
      <Button look={props.look === "primary" ? "primary" : "plain"} onClick={() => setOpen(true)}>
        {props.label}
      </Button>
      {isOpen ? <ActionDialog {...props} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function ActionDialog({ onClose, ...props }: ActionProps & { readonly onClose: () => void }) {
  const { title, children, fields = [], typed, submit, look = "primary", run, onDone } = props;
  const [key] = useState(newIdempotencyKey);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const [outcome, setOutcome] = useState<Exclude<Outcome, string>>();

  const act = async (form: HTMLFormElement): Promise<void> => {
    const data = new FormData(form);
    const given = Object.fromEntries(
      [...new Set(data.keys())].map((name) => [name, data.getAll(name).map(textOf).join().trim()]),
    );
    const { reason = "", typed: word, ...values } = given;
    const missing = fields.find(({ name, isOptional }) => isOptional !== true && values[name] === "");
    if (missing !== undefined) return setError(issue(missing.name, "is needed"));
    if (typed !== undefined && word !== typed) return setError(issue("typed", `must be ${typed}`));
    setBusy(true);
    setError(undefined);
    try {
      const result = await run(values, because(reason), { key, data });
      if (typeof result !== "string") return setOutcome(result);
      onDone();
      say(result);
      onClose();
    } catch (refusal) {
      setError(refusal as Error);
    } finally {
      setBusy(false);
    }
  };

  if (outcome !== undefined) {
    // Only now: what the page shows afterwards may have no place for this dialog.
    const closed = (): void => {
      onClose();
      onDone();
    };
    return <OutcomeDialog title={title} outcome={outcome} onClose={closed} />;
  }
  const isOfField = fields.some(({ name }) => issueOf(error, name) !== undefined);
  const typedIssue = issueOf(error, "typed");
  return (
    <Dialog title={title} isBusy={isBusy} onClose={onClose}>
      {children === undefined ? null : <div class="says">{children}</div>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act(event.currentTarget);
        }}
        noValidate
      >
        {fields.map((field, index) => (
          <FieldControl key={field.name} field={field} isFirst={index === 0} issue={issueOf(error, field.name)} />
        ))}
        {typed === undefined ? null : (
          <Field label={`Type “${typed}” to confirm`} issue={typedIssue}>
            {(attributes) => <input {...attributes} name="typed" autocomplete="off" />}
          </Field>
        )}
        <Field label="Reason" hint="For the audit log. May stay empty.">
          {(attributes) => (
            <input {...attributes} name="reason" maxLength={200} autocomplete="off" autofocus={fields.length === 0} />
          )}
        </Field>
        {error === undefined || isOfField || typedIssue !== undefined ? null : <ErrorNote error={error} />}
        <footer>
          <Button onClick={onClose} disabled={isBusy}>
            Back
          </Button>
          <Button type="submit" look={look} isBusy={isBusy}>
            {submit}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function textOf(value: FormDataEntryValue): string {
  return typeof value === "string" ? value : value.name;
}

function OutcomeDialog({
  title,
  outcome: { says, isBad = false, secret, what = "it" },
  onClose,
}: {
  readonly title: string;
  readonly outcome: Exclude<Outcome, string>;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p class={`note ${isBad ? "bad" : "good"}`} role="alert">
        {says}
      </p>
      {secret === undefined ? null : (
        <div class="secret">
          <code>{secret}</code>
          <Copy text={secret} what={what} />
        </div>
      )}
      <footer>
        <Button look="primary" onClick={onClose} autofocus>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}

function issue(name: string, message: string): ApiError {
  return new ApiError(0, "invalid_request", message, "", { issues: [{ path: `body.${name}`, message }] });
}
