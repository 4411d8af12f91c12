import type { Completed, ProviderAsset } from "../ports/music-provider.js";

/** The result in a form that outlives this process; null when a file is only in memory, or behind a key. */
export function storableResult(created: Completed): Completed | null {
  const assets = [...created.tracks.flatMap((track) => track.assets), ...(created.stems ?? [])];
  return assets.length > 0 && assets.every(isBehindLink) ? created : null;
}

/** A link with headers may carry a key, and keys are never stored in an attempt's row. An empty object has none. */
function isBehindLink({ source }: ProviderAsset): boolean {
  const plain = source.kind === "archive" ? source.archive : source;
  return plain.kind === "url" && Object.keys(plain.headers ?? {}).length === 0;
}
