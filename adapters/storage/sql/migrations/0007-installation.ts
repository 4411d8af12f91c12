import { createTable, type Migration } from "./migration.js";

export const installation: Migration = {
  name: "0007-installation",
  creates: ["installation"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("installation"), (table) => {
      columns.id(table, "name").notNullable().primary();
      columns.text(table, "value").notNullable();
    });
  },
};
