import { Field } from "../../parts/elements.js";
import type { Model, ModelOption } from "../api.js";
import { options, setOption } from "./form.js";

interface OptionsProps {
  readonly model: Model;
  /** By `options.NAME`. */
  readonly issues: Readonly<Record<string, string>>;
}

/** What the model takes beyond words and length, as it declares it. */
export function Options({ model, issues }: OptionsProps) {
  if (model.options.length === 0) return null;
  const given = model.options.filter(({ name }) => options.value[name] !== undefined).length;
  return (
    <details class="more" open={model.options.some(({ name }) => issues[`options.${name}`] !== undefined)}>
      <summary>More options {given === 0 ? null : <span class="badge">{given}</span>}</summary>
      <div class="options">
        {model.options.map((option) => (
          <Field
            key={option.name}
            label={labelOf(option)}
            hint={option.description}
            issue={issues[`options.${option.name}`]}
          >
            {(attributes) => <Control option={option} attributes={attributes} />}
          </Field>
        ))}
      </div>
    </details>
  );
}

interface ControlProps {
  readonly option: ModelOption;
  readonly attributes: { readonly id: string; readonly "aria-describedby": string; readonly "aria-invalid": boolean };
}

/** Left alone, it is the provider's to decide. */
function Control({ option, attributes }: ControlProps) {
  const { name, type, allowed, default: usual } = option;
  const value = options.value[name];
  if (type === "boolean" || allowed !== undefined) {
    const choices = allowed ?? ["true", "false"];
    const shown = (choice: string): string => (type === "boolean" ? (choice === "true" ? "Yes" : "No") : choice);
    return (
      <select
        {...attributes}
        value={value === undefined ? "" : String(value)}
        onChange={({ currentTarget: { value: picked } }) =>
          setOption(name, picked === "" ? undefined : type === "boolean" ? picked === "true" : picked)
        }
      >
        <option value="">{usual === undefined ? "Up to the model" : `As usual (${shown(String(usual))})`}</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {shown(choice)}
          </option>
        ))}
      </select>
    );
  }
  const shown = {
    ...attributes,
    placeholder: usual === undefined ? "Up to the model" : String(usual),
    value: value === undefined ? "" : String(value),
  };
  if (type === "string") {
    return (
      <input
        {...shown}
        type="text"
        list={undefined}
        onInput={({ currentTarget: { value: typed } }) => setOption(name, typed === "" ? undefined : typed)}
      />
    );
  }
  return (
    <input
      {...shown}
      type="number"
      min={option.minimum}
      max={option.maximum}
      step={type === "integer" ? 1 : "any"}
      onInput={({ currentTarget: { valueAsNumber: typed } }) =>
        setOption(name, Number.isNaN(typed) ? undefined : typed)
      }
    />
  );
}

/** `style_weight` → `Style weight`, `bpm` → `BPM`. */
function labelOf({ name, minimum, maximum }: ModelOption): string {
  const words = name === "bpm" ? "BPM" : name.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
  return minimum === undefined || maximum === undefined || maximum > 1_000
    ? words
    : `${words} (${minimum} to ${maximum})`;
}
