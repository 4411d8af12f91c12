import { racesContract } from "../contract/races.contract.js";
import { repeatsContract } from "../contract/repeats.contract.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  racesContract(name, open);
  repeatsContract(name, open);
}
