import { GuardedAssetOpener } from "../adapters/downloads/asset-opener.js";
import { GuardedConnector, OperatorAddressGuard } from "../adapters/network/index.js";
import type { AddressGuard } from "../core/ports/address-guard.js";
import type { AssetOpener } from "../core/ports/asset-opener.js";
import type { Clock } from "../core/ports/clock.js";
import type { LoadedPlugin } from "./plugins.js";
import { packageVersion } from "./version.js";

/** For a download's look-up, connection and handshake together. */
const DOWNLOAD_CONNECT_MS = 15_000;

export interface AssetOpenerDeps {
  readonly plugins: readonly LoadedPlugin[];
  /** For hosts that the operator has not listed. */
  readonly guard: AddressGuard;
  readonly clock: Clock;
  /** `webhooks.allowHttp` */
  readonly allowHttp: boolean;
}

/** Opens the files of these plugins, by the address policy and by what the operator wrote for each. */
export function assetOpenerFor({ plugins, guard, clock, allowHttp }: AssetOpenerDeps): AssetOpener {
  const rules = new Map(plugins.map(({ outgoing }) => [outgoing.providerId, outgoing]));
  return new GuardedAssetOpener({
    connect: new GuardedConnector({ guard }).forUndici(DOWNLOAD_CONNECT_MS),
    configured: {
      has: (providerId, url) => rules.get(providerId)?.isConfigured(url) === true,
      connect: new GuardedConnector({ guard: new OperatorAddressGuard() }).forUndici(DOWNLOAD_CONNECT_MS),
    },
    clock,
    version: packageVersion(),
    allowHttp,
  });
}
