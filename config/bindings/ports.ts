import type { Container, ServiceIdentifier } from "inversify";
import { ProcessAudioAnalyser } from "../../adapters/audio/analyser/audio-analyser.js";
import { NoAudioAnalyser } from "../../adapters/audio/analyser/no-analyser.js";
import { PaperCoverPainter } from "../../adapters/cover-art/cover-painter.js";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import { AddressPolicy, DnsAddressGuard, GuardedConnector } from "../../adapters/network/index.js";
import { MemoryRateLimiter } from "../../adapters/rate-limits/memory/rate-limiter.js";
import { SharedRateLimiter } from "../../adapters/rate-limits/shared/rate-limiter.js";
import { type StorageAddress, ThreadLeaseRenewal } from "../../adapters/storage/sql/index.js";
import { HttpsWebhookSender } from "../../adapters/webhooks/https/webhook-sender.js";
import { ClockLeaseRenewal } from "../../core/leases/clock-lease-renewal.js";
import type { AudioAnalyser } from "../../core/ports/audio-analyser.js";
import type { CorePorts } from "../../core/ports/core-ports.js";
import { assetOpenerFor } from "../asset-opener.js";
import type { LoadedPlugin } from "../plugins.js";
import type { Settings } from "../settings.js";
import { PORTS as P, TOKENS as T } from "../tokens.js";
import { packageVersion } from "../version.js";

/** Ports that an embedding app or a test gives in place of the adapters of the settings. */
export type PortOverrides = Partial<
  Pick<
    CorePorts,
    | "clock"
    | "random"
    | "ids"
    | "logger"
    | "queue"
    | "audio"
    | "addressGuard"
    | "webhookSender"
    | "audioAnalyser"
    | "coverPainter"
  >
>;

/** Ports whose adapters had to be opened, or read, before there is a core. */
export type OpenedPorts = Omit<CorePorts, UnopenedPort>;

type UnopenedPort =
  | "digest"
  | "assetOpener"
  | "audioAnalyser"
  | "coverPainter"
  | "addressGuard"
  | "webhookSender"
  | "secretBox"
  | "rateLimiter"
  | "renewLeases";

/** What decodes audio, as the settings have it. */
export function openAnalyser({ audio }: Settings): AudioAnalyser {
  return ANALYSERS[audio.analyser]();
}

const ANALYSERS: Readonly<Record<Settings["audio"]["analyser"], () => AudioAnalyser>> = {
  builtin: () => new ProcessAudioAnalyser(),
  none: () => new NoAudioAnalyser(),
};

/** The opened adapters, and those of which the settings choose one. What is overridden wins. */
export function bindPorts(
  container: Container,
  opened: OpenedPorts,
  overrides: PortOverrides,
  { plugins, storage }: { readonly plugins: readonly LoadedPlugin[]; readonly storage: StorageAddress },
): void {
  for (const [name, adapter] of Object.entries(opened)) {
    container.bind<unknown>(P[name as keyof OpenedPorts]).toConstantValue(adapter);
  }
  container.bind(P.digest).toResolvedValue(() => new NodeDigest());
  container.bind(P.secretBox).toResolvedValue((keyring) => new AesSecretBox(keyring), [P.keyring]);
  bindAudioPorts(container, overrides);
  bindNetworkPorts(container, overrides, plugins);
  container
    .bind(P.rateLimiter)
    .toResolvedValue(
      (clock, counts, unitOfWork, logger, { rateLimits }) =>
        rateLimits.store === "shared"
          ? new SharedRateLimiter({ clock, counts, unitOfWork, logger })
          : new MemoryRateLimiter(clock),
      [P.clock, P.rateCounts, P.unitOfWork, P.logger, T.settings],
    );
  bindLeaseRenewal(container, overrides, storage);
}

function bindAudioPorts(container: Container, overrides: PortOverrides): void {
  container
    .bind(P.audioAnalyser)
    .toResolvedValue((settings) => overrides.audioAnalyser ?? openAnalyser(settings), [T.settings]);
  container.bind(P.coverPainter).toResolvedValue(() => overrides.coverPainter ?? new PaperCoverPainter());
}

function bindNetworkPorts(container: Container, overrides: PortOverrides, plugins: readonly LoadedPlugin[]): void {
  container
    .bind(P.addressGuard)
    .toResolvedValue(
      ({ webhooks }) => overrides.addressGuard ?? new DnsAddressGuard(new AddressPolicy(webhooks)),
      [T.settings],
    );
  container.bind(P.webhookSender).toResolvedValue(
    (guard, clock, { webhooks: { timeoutSeconds, allowHttp } }) =>
      overrides.webhookSender ??
      new HttpsWebhookSender({
        connector: new GuardedConnector({ guard }),
        clock,
        version: packageVersion(),
        timeoutMs: timeoutSeconds * 1000,
        allowHttp,
      }),
    [P.addressGuard, P.clock, T.settings],
  );
  container
    .bind(P.assetOpener)
    .toResolvedValue(
      (guard, clock, { webhooks: { allowHttp } }) => assetOpenerFor({ plugins, guard, clock, allowHttp }),
      [P.addressGuard, P.clock, T.settings],
    );
}

/** A thread renews leases, by the storage's clock or by the given clock. */
function bindLeaseRenewal(container: Container, { clock: given }: PortOverrides, storage: StorageAddress): void {
  container
    .bind(P.renewLeases)
    .toResolvedValue(
      (jobs, clock, logger) => (owner, leaseMs) =>
        given === undefined
          ? new ThreadLeaseRenewal({ storage, owner, leaseMs, logger })
          : new ClockLeaseRenewal({ owner, leaseMs, jobs, clock, logger }),
      [P.jobs, P.clock, P.logger],
    );
}

/** Every port by its name. */
export function portsOf(container: Container): CorePorts {
  const entries = Object.entries(P).map(([name, port]) => [name, container.get(port as ServiceIdentifier<unknown>)]);
  return Object.fromEntries(entries) as CorePorts;
}
