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
import type { AddressGuard } from "../../core/ports/address-guard.js";
import type { AudioAnalyser } from "../../core/ports/audio-analyser.js";
import type { Clock } from "../../core/ports/clock.js";
import type { CorePorts } from "../../core/ports/core-ports.js";
import type { HostDatabase } from "../../core/ports/host-database.js";
import type { OpenedStorage } from "../../core/ports/opened-storage.js";
import type { Stores } from "../../core/ports/stores.js";
import { assetOpenerFor } from "../asset-opener.js";
import type { LoadedPlugin } from "../plugins.js";
import type { Settings } from "../settings.js";
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

/** What ports are chosen from, other than what is opened and what is overridden. */
export interface PortChoices extends Pick<OpenedStorage, "renewLeases"> {
  readonly settings: Settings;
  readonly plugins: readonly LoadedPlugin[];
}

/** Every port: the opened adapters, and those of which the settings choose one. What is overridden wins. */
export function choosePorts(
  opened: OpenedPorts,
  { stores: _stores, database: _database, ...given }: PortOverrides,
  { settings, plugins, renewLeases }: PortChoices,
): CorePorts {
  const own = Object.fromEntries(Object.entries(given).filter(([, port]) => port !== undefined)) as typeof given;
  const { clock, logger, jobs, keyring, rateCounts, unitOfWork } = { ...opened, ...own };
  const { webhooks, rateLimits } = settings;
  const addressGuard = own.addressGuard ?? new DnsAddressGuard(new AddressPolicy(webhooks));
  return {
    ...opened,
    digest: new NodeDigest(),
    secretBox: new AesSecretBox(keyring),
    coverPainter: new PaperCoverPainter(),
    addressGuard,
    ...own,
    // Each of these opens something: none is made that the app gives in its place.
    audioAnalyser: own.audioAnalyser ?? openAnalyser(settings),
    webhookSender: own.webhookSender ?? webhookSenderOf(settings, addressGuard, clock),
    assetOpener:
      own.assetOpener ?? assetOpenerFor({ plugins, guard: addressGuard, clock, allowHttp: webhooks.allowHttp }),
    rateLimiter:
      own.rateLimiter ??
      (rateLimits.store === "shared"
        ? new SharedRateLimiter({ clock, counts: rateCounts, unitOfWork, logger })
        : new MemoryRateLimiter(clock)),
    renewLeases:
      own.renewLeases ?? leaseRenewalOf(own.clock === undefined ? renewLeases : undefined, { jobs, clock, logger }),
  };
}

function webhookSenderOf({ webhooks }: Settings, guard: AddressGuard, clock: Clock): HttpsWebhookSender {
  return new HttpsWebhookSender({
    connector: new GuardedConnector({ guard }),
    clock,
    version: packageVersion(),
    timeoutMs: webhooks.timeoutSeconds * 1000,
    allowHttp: webhooks.allowHttp,
  });
}

/**
 * As the storage does it; one that does not leaves it to a timer of this process. What the storage renews by its own
 * clock would end by another where the app has given one.
 */
function leaseRenewalOf(
  renewLeases: OpenedStorage["renewLeases"],
  deps: Pick<CorePorts, "jobs" | "clock" | "logger">,
): CorePorts["renewLeases"] {
  return renewLeases ?? ((owner, leaseMs) => new ClockLeaseRenewal({ owner, leaseMs, ...deps }));
}
