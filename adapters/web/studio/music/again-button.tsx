import { useRequest } from "../compose/form.js";
import type { ShownGeneration } from "./generations.js";
import { Icon } from "../shell/icons.js";

/** Puts what was asked for back into the form. */
export function AgainButton({ request }: Pick<ShownGeneration, "request">) {
  if (request === undefined) return null;
  return (
    <button
      type="button"
      class="action"
      onClick={() => {
        useRequest(request);
        const field = document.getElementById("prompt");
        field?.focus();
        field?.scrollIntoView({ block: "center" });
      }}
    >
      <Icon name="again" /> Use again
    </button>
  );
}
