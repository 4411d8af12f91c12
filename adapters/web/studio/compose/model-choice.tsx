import type { Model } from "../api.js";
import { modelId, models } from "./form.js";
import { priceOf } from "./price.js";

/** Few models are shown side by side, more of them as a list. */
const CARDS_MAX = 4;

export function ModelChoice({ chosen }: { readonly chosen: Model }) {
  const all = models.value;
  // One that is off is no choice; one that is down just now comes back.
  if (all.length > CARDS_MAX) return <ModelList all={all} chosen={chosen} />;
  return (
    <fieldset class="choice models">
      <legend>Model</legend>
      {all.map(({ id, name, provider_label: provider, credit_cost: cost, status }) => (
        <label key={id} class="model">
          <input
            type="radio"
            name="model"
            checked={id === chosen.id}
            disabled={status === "unavailable"}
            onChange={() => (modelId.value = id)}
          />
          <span class="name">{name}</span>
          <span class="soft">{status === "unavailable" ? "unavailable just now" : provider}</span>
          <span class="cost">{priceOf(cost)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function ModelList({ all, chosen }: { readonly all: readonly Model[]; readonly chosen: Model }) {
  const providers = [...new Set(all.map(({ provider_label: provider }) => provider))];
  return (
    <div class="field">
      <label for="model">Model</label>
      <select id="model" value={chosen.id} onChange={(event) => (modelId.value = event.currentTarget.value)}>
        {providers.map((provider) => (
          <optgroup key={provider} label={provider}>
            {all
              .filter((each) => each.provider_label === provider)
              .map(({ id, name, credit_cost: cost, status }) => (
                <option key={id} value={id} disabled={status === "unavailable"}>
                  {name} · {status === "unavailable" ? "unavailable" : priceOf(cost)}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
    </div>
  );
}
