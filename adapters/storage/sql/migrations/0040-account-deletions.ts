import { addColumn, addIndex, createTable, type Migration } from "./migration.js";

/** Accounts that were deleted, and how far what is stored of them is erased. */
export const accountDeletions: Migration = {
  name: "0040-account-deletions",
  creates: ["account_deletions"],
  async up(knex, columns, names) {
    await addColumn(knex, names.of("accounts"), "deleted_at", (table, name) => columns.integer(table, name));
    await createTable(knex, names.of("account_deletions"), (table) => {
      columns.id(table, "account_id").notNullable().primary();
      columns.integer(table, "requested_at").notNullable();
      columns.integer(table, "erased_at");
      columns.json(table, "erased").notNullable();
      columns.json(table, "place").notNullable();
      columns.integer(table, "due_at");
      const due = names.of("account_deletions_due");
      columns.indexWhereSet(knex, table, ["due_at"], "due_at", { name: due });
    });
    await addColumn(knex, names.of("jobs"), "erased_at", (table, name) => columns.integer(table, name));
    for (const owned of ["tracks", "webhook_events"]) {
      const [table, index] = [names.of(owned), names.of(`${owned}_account`)];
      await addIndex(knex, columns, table, index, (builder) => void builder.index(["account_id", "id"], index));
    }
  },
};
