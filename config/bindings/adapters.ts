import type { Container } from "inversify";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { MemoryRateLimiter } from "../../adapters/rate-limits/memory/rate-limiter.js";
import type { Stores } from "../../adapters/storage/knex/index.js";
import { SystemClock } from "../../adapters/system/clock.js";
import { UlidGenerator } from "../../adapters/system/id-generator.js";
import { SystemRandom } from "../../adapters/system/random.js";
import { Tiers } from "../../core/accounts/tiers.js";
import type { Clock } from "../../core/ports/clock.js";
import type { IdGenerator } from "../../core/ports/id-generator.js";
import type { Random } from "../../core/ports/random.js";
import { TOKENS as T } from "../tokens.js";

export interface SystemOverrides {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly ids?: IdGenerator;
}

/** Time, randomness, hashes: what the machine gives. */
export function bindSystem(container: Container, overrides: SystemOverrides): void {
  const { clock = new SystemClock(), random = new SystemRandom() } = overrides;
  container.bind(T.clock).toConstantValue(clock);
  container.bind(T.random).toConstantValue(random);
  container.bind(T.ids).toConstantValue(overrides.ids ?? new UlidGenerator(clock, random));
  container.bind(T.digest).toResolvedValue(() => new NodeDigest());
  container.bind(T.rateLimiter).toResolvedValue((clock) => new MemoryRateLimiter(clock), [T.clock]);
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
  container.bind(T.ledger).toConstantValue(stores.ledger);
  container.bind(T.idempotency).toConstantValue(stores.idempotency);
  container.bind(T.jobs).toConstantValue(stores.jobs);
  container.bind(T.library).toConstantValue(stores.library);
  container.bind(T.health).toConstantValue(stores.health);
}
