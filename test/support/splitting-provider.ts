import type { ProviderAsset } from "../../core/ports/music-provider.js";
import { scriptedBytes, ScriptedProvider } from "./doubles/scripted-provider.js";

const ANY = { sources: "any" } as const;

/** Splits tracks of any origin. */
export class SplittingProvider extends ScriptedProvider {
  override readonly definition = {
    ...this.define("scripted"),
    capabilities: { idempotentSubmit: true, lookup: false, cancel: false, stemSplit: ANY, vocalRemoval: ANY },
  };
}

export function stem(label: string): ProviderAsset {
  const source = { kind: "bytes", bytes: scriptedBytes("audio/wav") } as const;
  return { role: "stem", label, contentType: "audio/wav", durationSeconds: 2, source };
}
