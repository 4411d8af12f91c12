import type { Container, ServiceIdentifier } from "inversify";
import { ProcessAudioAnalyser } from "../../adapters/audio/analyser/audio-analyser.js";
import { NoAudioAnalyser } from "../../adapters/audio/analyser/no-analyser.js";
import { PaperCoverPainter } from "../../adapters/cover-art/cover-painter.js";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import { AddressPolicy, DnsAddressGuard, GuardedConnector } from "../../adapters/network/index.js";
import { MemoryRateLimiter } from "../../adapters/rate-limits/memory/rate-limiter.js";
import { SharedRateLimiter } from "../../adapters/rate-limits/shared/rate-limiter.js";
import { HttpsWebhookSender } from "../../adapters/webhooks/https/webhook-sender.js";
import { ClockLeaseRenewal } from "../../core/leases/clock-lease-renewal.js";
import type { AudioAnalyser } from "../../core/ports/audio-analyser.js";
import type { CorePorts } from "../../core/ports/core-ports.js";
import type { HostDatabase } from "../../core/ports/host-database.js";
import type { OpenedStorage } from "../../core/ports/opened-storage.js";
import type { Stores } from "../../core/ports/stores.js";
import { assetOpenerFor } from "../asset-opener.js";
import type { LoadedPlugin } from "../plugins.js";
import type { Settings } from "../settings.js";
import { PORTS as P, TOKENS as T } from "../tokens.js";
import { packageVersion } from "../version.js";

/** Ports that an embedding app or a test gives in place of the adapters of the settings. */
export interface PortOverrides extends Partial<Omit<CorePorts, keyof Stores>> {
  /**
   * Every store of the app's own storage: `storage.url` is not used, and no database is opened. Leases are renewed by
   * the clock of this process.
   */
  readonly stores?: Stores;
  /**
   * The app's own open database, with room for Fermata's tables: a knex instance of the client `mysql2` or
   * `better-sqlite3`, a pool of mysql2, or a database of better-sqlite3. `storage.url` is not used; the schema is
   * brought up to date as ever, and `storage.tablePrefix` holds. Your app closes it, after `app.stop()`.
   *
   * @example
   *   const pool = mysql.createPool("mysql://shop@127.0.0.1/shop"); // of mysql2
   *   const app = await compose(loadSettings({ env: process.env, cwd: process.cwd() }), { database: pool });
   */
  readonly database?: HostDatabase;
}

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
  { stores: _stores, database: _database, ...given }: PortOverrides,
  { plugins, renewLeases }: { readonly plugins: readonly LoadedPlugin[] } & Pick<OpenedStorage, "renewLeases">,
): void {
  for (const [name, adapter] of Object.entries(opened)) {
    container.bind<unknown>(P[name as keyof OpenedPorts]).toConstantValue(adapter);
  }
  container.bind(P.digest).toResolvedValue(() => new NodeDigest());
  container.bind(P.secretBox).toResolvedValue((keyring) => new AesSecretBox(keyring), [P.keyring]);
  container.bind(P.audioAnalyser).toResolvedValue((settings) => openAnalyser(settings), [T.settings]);
  container.bind(P.coverPainter).toResolvedValue(() => new PaperCoverPainter());
  bindNetworkPorts(container, plugins);
  container
    .bind(P.rateLimiter)
    .toResolvedValue(
      (clock, counts, unitOfWork, logger, { rateLimits }) =>
        rateLimits.store === "shared"
          ? new SharedRateLimiter({ clock, counts, unitOfWork, logger })
          : new MemoryRateLimiter(clock),
      [P.clock, P.rateCounts, P.unitOfWork, P.logger, T.settings],
    );
  // What the storage renews by its own clock would end by another where the app has given one.
  bindLeaseRenewal(container, given.clock === undefined ? renewLeases : undefined);
  for (const [name, port] of Object.entries(given)) {
    const isPort = Object.hasOwn(P, name) && port !== undefined;
    if (isPort) container.rebind<unknown>(P[name as keyof typeof given]).toConstantValue(port);
  }
}

function bindNetworkPorts(container: Container, plugins: readonly LoadedPlugin[]): void {
  container
    .bind(P.addressGuard)
    .toResolvedValue(({ webhooks }) => new DnsAddressGuard(new AddressPolicy(webhooks)), [T.settings]);
  container.bind(P.webhookSender).toResolvedValue(
    (guard, clock, { webhooks: { timeoutSeconds, allowHttp } }) =>
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

/** As the storage does it; one that does not leaves it to a timer of this process. */
function bindLeaseRenewal(container: Container, renewLeases: OpenedStorage["renewLeases"]): void {
  container
    .bind(P.renewLeases)
    .toResolvedValue(
      (jobs, clock, logger) =>
        renewLeases ?? ((owner, leaseMs) => new ClockLeaseRenewal({ owner, leaseMs, jobs, clock, logger })),
      [P.jobs, P.clock, P.logger],
    );
}

/** Every port by its name. */
export function portsOf(container: Container): CorePorts {
  const entries = Object.entries(P).map(([name, port]) => [name, container.get(port as ServiceIdentifier<unknown>)]);
  return Object.fromEntries(entries) as CorePorts;
}
