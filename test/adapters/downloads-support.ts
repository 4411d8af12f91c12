import { GuardedAssetOpener, type AssetOpenerParts } from "../../adapters/downloads/asset-opener.js";
import { AddressPolicy, DnsAddressGuard, GuardedConnector } from "../../adapters/network/index.js";
import { SystemClock } from "../../adapters/system/clock.js";
import type { OpenedAsset } from "../../core/ports/asset-opener.js";
import type { AssetSource } from "../../core/ports/music-provider.js";

/** An opener that may reach loopback, as `localhost` and as an address, but nothing else that is not public. */
export function openerFor(parts: Partial<AssetOpenerParts> = {}, ca: readonly string[] = []): GuardedAssetOpener {
  const guard = new DnsAddressGuard(new AddressPolicy({ allowNetworks: ["127.0.0.0/8"] }));
  const limits = { resumeMs: 1, ...parts.limits };
  return new GuardedAssetOpener({ connect: new GuardedConnector({ guard, ca }).forUndici(5_000), clock: new SystemClock(), version: "1.2.3", ...parts, limits });
}

export function openWith(opener: GuardedAssetOpener, source: AssetSource, { maxBytes = 1_000_000, signal = new AbortController().signal } = {}): Promise<OpenedAsset> {
  return opener.open(source, { maxBytes, signal });
}
