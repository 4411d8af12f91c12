import type { Completed, ProviderAsset } from "../ports/music-provider.js";

/** What a provider made, as it outlives this process; null when some of it is only in memory, or behind a key. */
export function storableResult(made: Completed): Completed | null {
  const assets = [...made.tracks.flatMap((track) => track.assets), ...(made.stems ?? [])];
  return assets.length > 0 && assets.every(isBehindLink) ? made : null;
}

/** A link that takes a key along is not stored: the row of an attempt is no place for keys. */
function isBehindLink({ source }: ProviderAsset): boolean {
  const plain = source.kind === "archive" ? source.archive : source;
  return plain.kind === "url" && plain.headers === undefined;
}
