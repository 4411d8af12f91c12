import { ApiError } from "../parts/api-error.js";
import { Field } from "../parts/elements.js";

/** Something that an action needs to know. */
export interface ActionField {
  /** As the API names it. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** `long`: several lines. `set`: any number of the choices, with commas in between. */
  readonly type?: "text" | "long" | "number" | "check" | "set" | "file";
  /** Of a file: its types, as browsers know them. */
  readonly accept?: string;
  /** A choice between these values, shown in these words. */
  readonly choices?: readonly (readonly [value: string, words: string])[];
  readonly initial?: string;
  readonly isOptional?: boolean;
}

interface ControlProps {
  readonly field: ActionField;
  /** It gets the focus. */
  readonly isFirst: boolean;
  readonly issue: string | undefined;
}

export function FieldControl({ field, isFirst, issue }: ControlProps) {
  const { name, label, hint, type = "text", accept, choices, initial = "" } = field;
  if (type === "check")
    return (
      <label class="check">
        <input type="checkbox" name={name} value="true" defaultChecked={initial === "true"} autofocus={isFirst} />
        <span>
          {label}
          {hint === undefined ? null : <small>{hint}</small>}
        </span>
      </label>
    );
  if (type === "set")
    return (
      <fieldset>
        <legend>{label}</legend>
        {choices?.map(([value, words]) => (
          <label key={value} class="check">
            <input type="checkbox" name={name} value={value} defaultChecked />
            {words}
          </label>
        ))}
        {issue === undefined ? null : (
          <span class="issue" role="alert">
            {issue}
          </span>
        )}
      </fieldset>
    );
  return (
    <Field label={label} hint={hint} issue={issue}>
      {(attributes) =>
        type === "long" ? (
          <textarea {...attributes} name={name} rows={3} defaultValue={initial} autofocus={isFirst} />
        ) : type === "file" ? (
          <input {...attributes} name={name} type="file" accept={accept} autofocus={isFirst} />
        ) : choices === undefined ? (
          <input
            {...attributes}
            name={name}
            type="text"
            defaultValue={initial}
            autocomplete="off"
            inputMode={type === "number" ? "numeric" : undefined}
            autofocus={isFirst}
          />
        ) : (
          <select {...attributes} name={name} defaultValue={initial} autofocus={isFirst}>
            {choices.map(([value, words]) => (
              <option key={value} value={value} selected={value === initial}>
                {words}
              </option>
            ))}
          </select>
        )
      }
    </Field>
  );
}

/** What an error says of a member of the body. */
export function issueOf(error: Error | undefined, name: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { issues } = error.details as { issues?: readonly { readonly path: string; readonly message: string }[] };
  return issues?.find(({ path }) => path === `body.${name}`)?.message;
}

/** For how long something works, and the moment that ends it. */
export const EXPIRY: ActionField = {
  name: "expires",
  label: "Works for",
  choices: [
    ["", "ever"],
    ["1", "a day"],
    ["7", "7 days"],
    ["30", "30 days"],
    ["90", "90 days"],
    ["365", "a year"],
  ],
  isOptional: true,
};

export function expiryOf({ expires = "" }: Readonly<Record<string, string>>): { expires_at?: string } {
  return expires === "" ? {} : { expires_at: new Date(Date.now() + Number(expires) * 86_400_000).toISOString() };
}
