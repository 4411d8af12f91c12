import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { ApiError } from "./api-error.js";

interface ButtonProps extends ButtonHTMLAttributes {
  readonly look?: "plain" | "primary" | "danger";
  /** Something is under way that the button started: it cannot be pressed again, and keeps the focus. */
  readonly isBusy?: boolean;
}

export function Button({ look = "plain", isBusy = false, type = "button", onClick, ...others }: ButtonProps) {
  return (
    <button
      {...others}
      type={type}
      class={`button ${look}`}
      aria-disabled={isBusy}
      aria-busy={isBusy}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value; read out when it appears. */
  readonly issue?: string | undefined;
  /** The control, which is to have these attributes. */
  readonly children: (attributes: {
    readonly id: string;
    readonly "aria-describedby": string;
    readonly "aria-invalid": boolean;
  }) => ComponentChildren;
}

export function Field({ label, hint, issue, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}-hint ${id}-issue`, "aria-invalid": issue !== undefined })}
      <span class="hint" id={`${id}-hint`} hidden={hint === undefined}>
        {hint}
      </span>
      <span class="issue" id={`${id}-issue`} role="alert">
        {issue}
      </span>
    </div>
  );
}

/** An error in words, with what to quote of it. */
export function ErrorNote({ error }: { readonly error: Error }) {
  const requestId = error instanceof ApiError ? error.requestId : "";
  return (
    <p class="note bad" role="alert">
      {error.message}
      {requestId === "" ? null : <small> ({requestId})</small>}
    </p>
  );
}
