import type { Host } from "./settings.js";

/** LALAL.AI's names of the stems that `split/multistem` can extract; each once, so six at most. */
export const STEMS = ["vocals", "drum", "piano", "bass", "electric_guitar", "acoustic_guitar"];

/** How tracks are split: the settings, checked. */
export interface SplitOptions {
  readonly stems: readonly string[];
  /** Members of `presets` for every split. */
  readonly presets: { readonly [name: string]: string | boolean };
  /** Members of `presets` for a split that extracts vocals. */
  readonly vocalPresets: { readonly [name: string]: boolean };
}

/** @throws {Error} with a line for every invalid setting */
export function readOptions(settings: Host["settings"]): SplitOptions {
  const { stems: list, splitter, extractionLevel, encoderFormat, dereverb } = settings;
  const stems = list.split(",").map((stem) => stem.trim());
  const issues: string[] = [];
  const unknown = stems.filter((stem) => !STEMS.includes(stem));
  if (unknown.length > 0) issues.push(`stems: ${JSON.stringify(unknown.join(", "))}; allowed: ${STEMS.join(", ")}`);
  if (new Set(stems).size < stems.length) issues.push(`stems: ${JSON.stringify(list)}; allowed: each once`);
  if (issues.length > 0) throw new Error(issues.join("\n"));
  return {
    stems,
    presets: {
      ...(splitter === "auto" ? {} : { splitter: splitter }),
      ...(encoderFormat === "source" ? {} : { encoder_format: encoderFormat }),
      extraction_level: extractionLevel,
    },
    vocalPresets: dereverb ? { dereverb_enabled: true } : {},
  };
}
