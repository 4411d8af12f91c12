import type { Container } from "inversify";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import { AddressPolicy, DnsAddressGuard, GuardedConnector } from "../../adapters/network/index.js";
import { MemoryRateLimiter } from "../../adapters/rate-limits/memory/rate-limiter.js";
import { SharedRateLimiter } from "../../adapters/rate-limits/shared/rate-limiter.js";
import { type Stores, ThreadLeaseRenewal } from "../../adapters/storage/knex/index.js";
import { UlidGenerator } from "../../adapters/system/id-generator.js";
import { SystemRandom } from "../../adapters/system/random.js";
import { HttpsWebhookSender } from "../../adapters/webhooks/https/webhook-sender.js";
import { Tiers } from "../../core/accounts/tiers.js";
import { ClockLeaseRenewal } from "../../core/execution/clock-lease-renewal.js";
import type { AddressGuard } from "../../core/ports/address-guard.js";
import type { Clock } from "../../core/ports/clock.js";
import type { IdGenerator } from "../../core/ports/id-generator.js";
import type { Random } from "../../core/ports/random.js";
import type { WebhookSender } from "../../core/ports/webhook-sender.js";
import { TOKENS as T } from "../tokens.js";
import { packageVersion } from "../version.js";

export interface SystemOverrides {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly ids?: IdGenerator;
}

export interface NetworkOverrides {
  readonly addressGuard?: AddressGuard;
  readonly webhookSender?: WebhookSender;
}

/** Time, randomness, hashes: what the machine gives. */
export function bindSystem(container: Container, overrides: SystemOverrides & { readonly clock: Clock }): void {
  const { clock, random = new SystemRandom() } = overrides;
  container.bind(T.clock).toConstantValue(clock);
  container.bind(T.random).toConstantValue(random);
  container.bind(T.ids).toConstantValue(overrides.ids ?? new UlidGenerator(clock, random));
  container.bind(T.digest).toResolvedValue(() => new NodeDigest());
  container
    .bind(T.tiers)
    .toResolvedValue(
      ({ tiers }) => new Tiers(Object.entries(tiers).map(([name, tier]) => ({ name, ...tier }))),
      [T.settings],
    );
}

/** The stores of an open database. */
export function bindStorage(container: Container, stores: Stores): void {
  container.bind(T.unitOfWork).toConstantValue(stores.unitOfWork);
  container.bind(T.accounts).toConstantValue(stores.accounts);
  container.bind(T.auditLog).toConstantValue(stores.auditLog);
  container.bind(T.ledger).toConstantValue(stores.ledger);
  container.bind(T.idempotency).toConstantValue(stores.idempotency);
  container.bind(T.jobs).toConstantValue(stores.jobs);
  container.bind(T.callbacks).toConstantValue(stores.callbacks);
  container.bind(T.library).toConstantValue(stores.library);
  container.bind(T.health).toConstantValue(stores.health);
  container.bind(T.requestLog).toConstantValue(stores.requestLog);
  container.bind(T.rateCounts).toConstantValue(stores.rateCounts);
  container.bind(T.installation).toConstantValue(stores.installation);
  container.bind(T.uploads).toConstantValue(stores.uploads);
  container.bind(T.webhooks).toConstantValue(stores.webhooks);
}

/** Who counts requests: this process for itself, or all on one storage together. */
export function bindRateLimiter(container: Container): void {
  container
    .bind(T.rateLimiter)
    .toResolvedValue(
      (clock, counts, unitOfWork, logger, { rateLimits }) =>
        rateLimits.store === "shared"
          ? new SharedRateLimiter({ clock, counts, unitOfWork, logger })
          : new MemoryRateLimiter(clock),
      [T.clock, T.rateCounts, T.unitOfWork, T.logger, T.settings],
    );
}

/** How leases are kept alive: by a thread, which goes by the storage's clock, or by the clock that was given. */
export function bindLeaseRenewal(container: Container, { clock: given }: SystemOverrides): void {
  container.bind(T.leaseRenewal).toResolvedValue(
    (jobs, clock, logger, { storage: { url } }) =>
      (owner, leaseMs) =>
        given === undefined
          ? new ThreadLeaseRenewal({ url, owner, leaseMs, logger })
          : new ClockLeaseRenewal({ owner, leaseMs, jobs, clock, logger }),
    [T.jobs, T.clock, T.logger, T.settings],
  );
}

/** Where to connect on somebody else's behalf, and the sealing of their secrets. */
export function bindNetwork(container: Container, { addressGuard, webhookSender }: NetworkOverrides): void {
  container.bind(T.secretBox).toResolvedValue((keyring) => new AesSecretBox(keyring), [T.keyring]);
  container
    .bind(T.addressGuard)
    .toResolvedValue(({ webhooks }) => addressGuard ?? new DnsAddressGuard(new AddressPolicy(webhooks)), [T.settings]);
  container.bind(T.webhookSender).toResolvedValue(
    (guard, clock, { webhooks: { timeoutSeconds, allowHttp } }) =>
      webhookSender ??
      new HttpsWebhookSender({
        connector: new GuardedConnector({ guard }),
        clock,
        version: packageVersion(),
        timeoutMs: timeoutSeconds * 1000,
        allowHttp,
      }),
    [T.addressGuard, T.clock, T.settings],
  );
}
