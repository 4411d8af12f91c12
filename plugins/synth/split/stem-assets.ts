import type { RenderedAsset, SplitSpec } from "../job-spec.js";
import { isAudible, type WavFile } from "../output/wav.js";

/**
 * Stems as files. Leaves out a silent stem if others remain; a vocal removal always has both of its stems.
 */
export function stemAssets(
  operation: SplitSpec["operation"],
  files: ReadonlyMap<string, WavFile>,
  durationSeconds: number,
): RenderedAsset[] {
  const all = [...files];
  const audible = all.filter(([, file]) => isAudible(file));
  const kept = operation === "vocal_removal" ? all : audible.length > 0 ? audible : all.slice(-1);
  return kept.map(([label, { bytes }]) => ({ role: "stem", label, contentType: "audio/wav", durationSeconds, bytes }));
}
