import { describeEnds } from "./sql-ends.js";
import { describeEventRaces } from "./sql-events.js";
import { describeRaces } from "./sql-races.js";
import { describeRenewals } from "./sql-renewals.js";
import { describeSplitReferences } from "./sql-split-references.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describeRaces(name, open);
  describeEnds(name, open);
  describeEventRaces(name, open);
  describeRenewals(name, open);
  describeSplitReferences(name, open);
}
