import { GuardedAssetOpener, type AssetOpenerDeps } from "../../adapters/downloads/asset-opener.js";
import { AddressPolicy, DnsAddressGuard, GuardedConnector } from "../../adapters/network/index.js";
import { SystemClock } from "../../adapters/system/clock.js";
import type { OpenedAsset, OpenOptions } from "../../core/ports/asset-opener.js";
import type { AssetSource, ProviderFailure, UrlSource } from "../../core/ports/music-provider.js";
import { contentOf, failureOf } from "../contract/asset-opener.contract.js";

/** An opener that may reach loopback, as `localhost` and as an address, but nothing else that is not public. */
export function openerFor(parts: Partial<AssetOpenerDeps> = {}, ca: readonly string[] = []): GuardedAssetOpener {
  const guard = new DnsAddressGuard(new AddressPolicy({ allowNetworks: ["127.0.0.0/8"] }));
  const limits = { resumeMs: 1, ...parts.limits };
  return new GuardedAssetOpener({
    connect: new GuardedConnector({ guard, ca }).forUndici(5_000),
    clock: new SystemClock(),
    version: "1.2.3",
    allowHttp: true,
    ...parts,
    limits,
  });
}

export function openWith(
  opener: GuardedAssetOpener,
  source: AssetSource,
  { maxBytes = 1_000_000, signal = new AbortController().signal }: Partial<OpenOptions> = {},
): Promise<OpenedAsset> {
  return opener.open(source, { maxBytes, signal });
}

export interface Asking extends Partial<Omit<UrlSource, "kind" | "url">> {
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  readonly parts?: Partial<AssetOpenerDeps>;
  readonly ca?: readonly string[];
}

/** What a URL gives, by an opener of its own. */
export async function loadUrl(url: string, { parts, ca, maxBytes, signal, ...source }: Asking = {}): Promise<Buffer> {
  const opener = openerFor(parts, ca);
  try {
    const options = { ...(maxBytes === undefined ? {} : { maxBytes }), ...(signal === undefined ? {} : { signal }) };
    return await contentOf(await openWith(opener, { kind: "url", url, ...source }, options));
  } finally {
    await opener.close();
  }
}

/** The failure of a URL that gives nothing. */
export function refusalOf(url: string, asking?: Asking): Promise<ProviderFailure> {
  return failureOf(loadUrl(url, asking));
}
