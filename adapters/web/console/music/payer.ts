import type { ActionField } from "../action-field.js";
import type { Schemas } from "../api.js";

/** Who pays for what is made of a track. */
export function payerField({ account }: Pick<Schemas["AdminTrack"], "account">): ActionField {
  const hint = account === null ? "The id of an account." : "The id of an account. Empty: the track's owner.";
  return { name: "account", label: "Who pays", hint, isOptional: account !== null };
}
