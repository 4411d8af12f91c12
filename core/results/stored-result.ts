import type { Completed, ProviderAsset } from "../ports/music-provider.js";

/** What a provider made, as it outlives this process; null when some of it is only in memory, or behind a key. */
export function storableResult(created: Completed): Completed | null {
  const assets = [...created.tracks.flatMap((track) => track.assets), ...(created.stems ?? [])];
  return assets.length > 0 && assets.every(isBehindLink) ? created : null;
}

/** A link that takes a key along is not stored: the row of an attempt is no place for keys. */
function isBehindLink({ source }: ProviderAsset): boolean {
  const plain = source.kind === "archive" ? source.archive : source;
  return plain.kind === "url" && plain.headers === undefined;
}
