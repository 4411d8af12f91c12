import type { RecordsActions } from "../audit/audit-trail.js";
import type { MaintenanceTask } from "../maintenance/maintenance.js";
import type { CorePorts } from "../ports/core-ports.js";
import { KeyStates } from "./key-states.js";
import { ResealSecrets } from "./reseal.js";
import { resealTask } from "./reseal-task.js";
import { RotateSecrets } from "./rotate-secrets.js";

export interface Secrets {
  readonly keyStates: KeyStates;
  readonly rotate: RotateSecrets;
  readonly reseal: MaintenanceTask;
}

/** The secret keys and their rotation. */
export function createSecrets(ports: CorePorts, audit: RecordsActions): Secrets {
  const { keyring, secretKeys: keys } = ports;
  const states = new KeyStates({ installation: ports.installation, unitOfWork: ports.unitOfWork });
  const reseal = new ResealSecrets({ ...ports, states });
  const refreshKeyring = (): Promise<void> => keyring.refresh();
  return {
    keyStates: states,
    rotate: new RotateSecrets({ ...ports, audit, states, keys, reseal, refreshKeyring }),
    reseal: resealTask({ ...ports, states, reseal }),
  };
}
