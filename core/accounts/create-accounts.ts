import type { RecordsActions } from "../audit/audit-trail.js";
import type { CorePorts } from "../ports/core-ports.js";
import { Authenticate } from "./authenticate.js";
import { ManageAccounts } from "./manage-accounts.js";
import { RecordKeyUses } from "./record-key-uses.js";
import type { Tiers } from "./tiers.js";

export interface AccountsDeps {
  readonly ports: CorePorts;
  readonly audit: RecordsActions;
  readonly tiers: Tiers;
}

/** Who calls: accounts and their API keys. */
export function createAccounts({ ports, audit, tiers }: AccountsDeps): Accounts {
  const uses = new RecordKeyUses(ports);
  return {
    authenticate: new Authenticate({ ...ports, uses }),
    uses,
    accounts: new ManageAccounts({ ...ports, audit, tiers }),
  };
}

export interface Accounts {
  readonly authenticate: Authenticate;
  readonly uses: RecordKeyUses;
  readonly accounts: ManageAccounts;
}
