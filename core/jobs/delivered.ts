import type { Completed, ProviderAsset, ProviderHandle } from "../ports/music-provider.js";

/** Names what only the core puts into a handle. */
const DELIVERED = "fermata:delivered";

/** What a provider made, as a handle that outlives this process; null when some of it is only in memory. */
export function deliveredHandle(made: Completed): ProviderHandle | null {
  const assets = [...made.tracks.flatMap((track) => track.assets), ...(made.stems ?? [])];
  return assets.every(isBehindLink) ? { version: 0, data: { [DELIVERED]: made } } : null;
}

/** What {@link deliveredHandle} kept; null for a handle of a plugin. */
export function deliveredIn({ data }: ProviderHandle): Completed | null {
  return (data[DELIVERED] as Completed | undefined) ?? null;
}

function isBehindLink({ source }: ProviderAsset): boolean {
  return source.kind === "url" || (source.kind === "archive" && source.archive.kind === "url");
}
