import { randomUUID } from "node:crypto";
import type { Migration } from "./migration.js";

/** Tells this installation's tables from another's, in a database that an app opened. */
export const installationId: Migration = {
  name: "0033-installation-id",
  async up(knex, _columns, names) {
    const table = names.of("installation");
    const found: unknown = await knex(table).where({ name: "id" }).first();
    if (found === undefined) await knex(table).insert({ name: "id", value: randomUUID() });
  },
};
