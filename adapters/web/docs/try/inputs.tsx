import { Field } from "../../parts/elements.js";
import type { Parameter } from "../description/document.js";
import type { Operation } from "../description/operations.js";
import { Words } from "../shell/view.js";
import { type Entered, fieldsOf, formFields, initialBody, isForm } from "./request.js";

interface InputsProps {
  readonly operation: Operation;
  readonly entered: Entered;
  readonly onChange: (entered: Entered) => void;
}

/** Fields for the parameters and the body. */
export function Inputs({ operation, entered, onChange }: InputsProps) {
  const setParameter = (name: string, value: string): void =>
    onChange({ ...entered, parameters: { ...entered.parameters, [name]: value } });
  const setMember = (name: string, value: string | File): void =>
    onChange({ ...entered, form: { ...entered.form, [name]: value } });
  return (
    <>
      {fieldsOf(operation).map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          value={entered.parameters[parameter.name] ?? ""}
          onChange={(value) => setParameter(parameter.name, value)}
        />
      ))}
      {isForm(operation)
        ? formFields(operation).map(({ name, description, isFile, isRequired }) => (
            <Field key={name} label={isRequired ? name : `${name} (optional)`} hint={<Words text={description} />}>
              {(attributes) =>
                isFile ? (
                  <input
                    {...attributes}
                    type="file"
                    onChange={({ currentTarget: { files } }) => setMember(name, files?.[0] ?? "")}
                  />
                ) : (
                  <input {...attributes} onInput={(event) => setMember(name, event.currentTarget.value)} />
                )
              }
            </Field>
          ))
        : null}
      {initialBody(operation) === "" ? null : (
        <Field label="Body">
          {(attributes) => (
            <textarea
              {...attributes}
              class="json"
              rows={Math.min(16, initialBody(operation).split("\n").length)}
              spellcheck={false}
              value={entered.body}
              onInput={(event) => onChange({ ...entered, body: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ParameterField({ parameter, value, onChange }: ParameterFieldProps) {
  const { name, required = false, schema, example } = parameter;
  return (
    <Field label={required ? name : `${name} (optional)`}>
      {(attributes) =>
        schema.enum === undefined ? (
          <input
            {...attributes}
            value={value}
            placeholder={example === undefined ? "" : String(example)}
            spellcheck={false}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        ) : (
          <select {...attributes} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
            <option value="" />
            {schema.enum.map((each) => (
              <option key={String(each)}>{String(each)}</option>
            ))}
          </select>
        )
      }
    </Field>
  );
}
