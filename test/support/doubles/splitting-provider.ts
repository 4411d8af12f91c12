import type { ProviderAsset } from "../../../core/ports/music-provider.js";
import { scriptedBytes, ScriptedProvider, type SubmitBehaviour } from "./scripted-provider.js";

const ANY = { sources: "any" } as const;

/** Splits any track in both ways, in addition to what a {@link ScriptedProvider} does. */
export class SplittingProvider extends ScriptedProvider {
  override readonly definition = {
    ...this.define("scripted"),
    capabilities: { idempotentSubmit: true, lookup: false, cancel: false, stemSplit: ANY, vocalRemoval: ANY },
  };
}

/** Settings by which that provider splits, and for how much. */
export const SPLIT_SETTINGS = {
  stemSplit: { creditCost: 8, providers: ["scripted"] },
  vocalRemoval: { creditCost: 5, providers: ["scripted"] },
} as const;

/** Every submission delivers two stems at once. */
export const submitSplits: SubmitBehaviour = () =>
  Promise.resolve({ state: "completed", tracks: [], stems: [stem("vocals"), stem("instrumental")] });

function stem(label: string): ProviderAsset {
  const source = { kind: "bytes", bytes: scriptedBytes("audio/wav") } as const;
  return { role: "stem", label, contentType: "audio/wav", durationSeconds: 12.34567, source };
}
