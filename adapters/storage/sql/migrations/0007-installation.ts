import { createTable, type Migration } from "./migration.js";

export const installation: Migration = {
  name: "0007-installation",
  async up(knex, columns) {
    await createTable(knex, "installation", (table) => {
      columns.id(table, "name").notNullable().primary();
      columns.text(table, "value").notNullable();
    });
  },
};
