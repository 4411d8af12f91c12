import { ProviderFailure, type ProviderFailureKind } from "../ports/music-provider.js";
import { clampFailure } from "../results/clamp-result.js";
import { PluginCallError } from "./call-plugin.js";
import type { WorkingProvider } from "./working-provider.js";

/**
 * What a call of a plugin threw, as a failure. An error that is none of the port's is named with its text: operators
 * and the plugin's author read it where the job is shown, without the secrets of the plugin's settings.
 *
 * @param kind of an error that is none of the port's
 */
export function failureOfCall(
  { id, masked = (text) => text }: Pick<WorkingProvider, "id" | "masked">,
  call: string,
  kind: ProviderFailureKind,
  error: unknown,
): ProviderFailure {
  if (ProviderFailure.is(error)) return error;
  const words =
    error instanceof PluginCallError ? error.message : `The plugin ${id} failed in the call ${call}: ${textOf(error)}.`;
  return clampFailure(new ProviderFailure(kind, masked(words), { cause: error }));
}

function textOf(error: unknown): string {
  try {
    if (error instanceof Error) return error.message === "" ? error.name : `${error.name}: ${error.message}`;
    return typeof error === "string" ? `it threw the text ${JSON.stringify(error)}` : `it threw ${String(error)}`;
  } catch {
    return "what it threw cannot be read";
  }
}
