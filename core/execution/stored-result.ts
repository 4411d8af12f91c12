import type { Completed, ProviderAsset, ProviderHandle } from "../ports/music-provider.js";

/** Names what only the core puts into a handle. */
const DELIVERED = "fermata:delivered";

/** What a provider made, as a handle that outlives this process; null when some of it is only in memory, or behind a key. */
export function deliveredHandle(made: Completed): ProviderHandle | null {
  const assets = [...made.tracks.flatMap((track) => track.assets), ...(made.stems ?? [])];
  return assets.every(isBehindLink) ? { version: 0, data: { [DELIVERED]: made } } : null;
}

/** What {@link deliveredHandle} kept; null for a handle of a plugin. */
export function deliveredIn({ data }: ProviderHandle): Completed | null {
  return (data[DELIVERED] as Completed | undefined) ?? null;
}

/** A link that takes a key along is not kept: the row of a job is no place for keys. */
function isBehindLink({ source }: ProviderAsset): boolean {
  const plain = source.kind === "archive" ? source.archive : source;
  return plain.kind === "url" && plain.headers === undefined;
}
