import { redactText } from "../adapters/observability/redact.js";
import type { ProviderDefinition } from "../core/ports/music-provider.js";
import { secretMask } from "../core/secrets/mask-secrets.js";

export interface PluginSettings {
  readonly definition: Pick<ProviderDefinition, "settings">;
  /** Its settings as they were given. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Masks the secrets of a plugin's settings in a text, and what looks like a secret. */
export function maskOf({ definition, settings }: PluginSettings): (text: string) => string {
  const secrets = Object.entries(definition.settings).flatMap(([name, { secret }]) => {
    const value = settings[name];
    return secret === true && typeof value === "string" ? [value] : [];
  });
  const masked = secretMask(secrets);
  return (text) => redactText(masked(text));
}
