import { fileURLToPath } from "node:url";

/** Ids of the plugins here, each in a folder of its name. */
export const RECORDING_PROVIDERS = ["recording", "recording-idempotent", "recording-lookup"] as const;

/**
 * Settings under which a process loads the recording providers from their folders, and no other plugin.
 *
 * @param file the recorded calls
 */
export function recordingProviderSettings(file: string, lateMs = 500): Record<string, string> {
  const settings: Record<string, string> = { FERMATA_PLUGINS__SYNTH__ENABLED: "false" };
  for (const id of RECORDING_PROVIDERS) {
    const prefix = `FERMATA_PLUGINS__${id.toUpperCase().replaceAll("-", "_")}`;
    settings[`${prefix}__ENABLED`] = "true";
    settings[`${prefix}__USE`] = fileURLToPath(new URL(`./${id}/index.js`, import.meta.url));
    settings[`${prefix}__FILE`] = file;
    settings[`${prefix}__LATE_MS`] = String(lateMs);
  }
  return settings;
}
