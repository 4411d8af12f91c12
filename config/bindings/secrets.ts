import type { Container } from "inversify";
import { ResealSecrets } from "../../core/secrets/reseal.js";
import { RotateSecrets } from "../../core/secrets/rotate-secrets.js";
import type { OpenedSecrets } from "../secret-keys.js";
import { TOKENS as T } from "../tokens.js";

/** The secret keys and their rotation. */
export function bindSecrets(container: Container, { keys, states, keyring }: OpenedSecrets): void {
  container.bind(T.keyring).toConstantValue(keyring);
  container.bind(T.keyStates).toConstantValue(states);
  container
    .bind(T.resealSecrets)
    .toResolvedValue(
      (unitOfWork, webhooks, secretBox, clock, logger) =>
        new ResealSecrets({ unitOfWork, webhooks, secretBox, states, clock, logger }),
      [T.unitOfWork, T.webhooks, T.secretBox, T.clock, T.logger],
    );
  container
    .bind(T.rotateSecrets)
    .toResolvedValue(
      (unitOfWork, audit, reseal, clock) =>
        new RotateSecrets({ unitOfWork, audit, states, keys, reseal, clock, refreshKeyring: () => keyring.refresh() }),
      [T.unitOfWork, T.audit, T.resealSecrets, T.clock],
    );
}
