import type { Container } from "inversify";
import { GuardedAssetOpener } from "../../adapters/downloads/asset-opener.js";
import { GuardedConnector, OperatorAddressGuard } from "../../adapters/network/index.js";
import { openProviderSandbox } from "../../adapters/sandbox/index.js";
import { CallbackUrls } from "../../core/providers/callback-urls.js";
import { ReceiveCallback } from "../../core/providers/receive-callback.js";
import { BuildRequest } from "../../core/execution/build-request.js";
import { CancelUpstream } from "../../core/execution/cancel-upstream.js";
import { type RoutePreferences, Routes } from "../../core/providers/routes.js";
import { StartSplit } from "../../core/generations/start-split.js";
import { StoreAsset } from "../../core/execution/store-asset.js";
import { Catalogue } from "../../core/providers/catalogue.js";
import { type LoadedPlugin, toCatalogueProvider } from "../plugins.js";
import type { Settings } from "../settings.js";
import { TOKENS as T } from "../tokens.js";
import { packageVersion } from "../version.js";

/** For a download's look-up, connection and handshake together. */
const DOWNLOAD_CONNECT_MS = 15_000;

/** Which providers there are, who does what, and how work goes to them and comes back. */
export function bindProviders(container: Container, plugins: readonly LoadedPlugin[]): void {
  container
    .bind(T.catalogue)
    .toResolvedValue(
      ({ http }) => new Catalogue(plugins.map((plugin) => toCatalogueProvider(plugin, http.publicUrl !== null))),
      [T.settings],
    );
  container
    .bind(T.routes)
    .toResolvedValue(
      (catalogue, settings) => new Routes(catalogue, routePreferences(settings)),
      [T.catalogue, T.settings],
    );
  container
    .bind(T.callbackUrls)
    .toResolvedValue(
      (digest, keyring, { http }) => new CallbackUrls(digest, keyring, http.publicUrl),
      [T.digest, T.keyring, T.settings],
    );
  container
    .bind(T.receiveCallback)
    .toResolvedValue(
      (urls, jobs, callbacks, unitOfWork, queue, clock, ids, digest, logger) =>
        new ReceiveCallback({ urls, jobs, callbacks, unitOfWork, queue, clock, ids, digest, logger }),
      [T.callbackUrls, T.jobs, T.callbacks, T.unitOfWork, T.queue, T.clock, T.ids, T.digest, T.logger],
    );
  container
    .bind(T.buildRequest)
    .toResolvedValue(
      (catalogue, library, audio, audioUrls, callbackUrls) =>
        new BuildRequest({ catalogue, library, audio, audioUrls, callbackUrls }),
      [T.catalogue, T.library, T.audio, T.audioUrls, T.callbackUrls],
    );
  container.bind(T.openSandbox).toConstantValue(openProviderSandbox);
  const rules = new Map(plugins.map(({ outgoing }) => [outgoing.providerId, outgoing]));
  container.bind(T.assetOpener).toResolvedValue(
    (guard, clock, { webhooks: { allowHttp } }) =>
      new GuardedAssetOpener({
        connect: new GuardedConnector({ guard }).forUndici(DOWNLOAD_CONNECT_MS),
        configured: {
          has: (providerId, url) => rules.get(providerId)?.isConfigured(url) === true,
          connect: new GuardedConnector({ guard: new OperatorAddressGuard() }).forUndici(DOWNLOAD_CONNECT_MS),
        },
        clock,
        version: packageVersion(),
        allowHttp,
      }),
    [T.addressGuard, T.clock, T.settings],
  );
  container
    .bind(T.storeAsset)
    .toResolvedValue(
      (audio, opener, settings) => new StoreAsset(audio, opener, settings.audio.maxBytes),
      [T.audio, T.assetOpener, T.settings],
    );
  container
    .bind(T.cancelUpstream)
    .toResolvedValue(
      (jobs, unitOfWork, clock, logger) => new CancelUpstream({ jobs, unitOfWork, clock, logger }),
      [T.jobs, T.unitOfWork, T.clock, T.logger],
    );
  container.bind(T.startSplit).toResolvedValue(
    (acceptJobs, audit, accounts, library, routes, availability, tiers, clock, ids, settings) =>
      new StartSplit({
        acceptJobs,
        audit,
        accounts,
        library,
        routes,
        availability,
        tiers,
        clock,
        ids,
        costs: { stem_split: settings.stemSplit.creditCost, vocal_removal: settings.vocalRemoval.creditCost },
      }),
    [T.acceptJobs, T.audit, T.accounts, T.library, T.routes, T.availability, T.tiers, T.clock, T.ids, T.settings],
  );
}

function routePreferences({ routing, stemSplit, vocalRemoval }: Settings): RoutePreferences {
  const chains = routing.standIns.map((chain) => chain.split(">").map((id) => id.trim()));
  return {
    standIns: Object.fromEntries(chains.map(([first = "", ...others]) => [first, others])),
    splits: { stem_split: stemSplit.providers, vocal_removal: vocalRemoval.providers },
  };
}
