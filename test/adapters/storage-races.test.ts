import { racesContract } from "../contract/races.contract.js";
import { renewalsContract } from "../contract/renewals.contract.js";
import { splitReferencesContract } from "../contract/split-references.contract.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  racesContract(name, open);
  renewalsContract(name, open);
  splitReferencesContract(name, open);
}
