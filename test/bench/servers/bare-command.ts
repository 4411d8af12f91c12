/** The baseline of a command: the same libraries, and the accounts of a database as JSON. */
import { join } from "node:path";
import { Command } from "commander";
import knex from "knex";
import { DATABASE_FILE } from "./child.js";

await new Command("bare")
  .argument("<dataDir>")
  .action(async (dataDir: string) => {
    const connection = { filename: join(dataDir, DATABASE_FILE) };
    const database = knex({ client: "better-sqlite3", connection, useNullAsDefault: true });
    const accounts = await database("fermata_accounts").orderBy("id", "desc").limit(50);
    process.stdout.write(`${JSON.stringify({ accounts }, null, 2)}\n`);
    await database.destroy();
  })
  .parseAsync();
