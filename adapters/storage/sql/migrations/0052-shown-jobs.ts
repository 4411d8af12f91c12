import { addColumn, addIndex, type Migration } from "./migration.js";

/**
 * Accounts list their generations in the order of an index, whatever state they are in, and without reading what was
 * asked for: the part of it that lists show is in a column of its own. It is null in rows of before, whose request is
 * read.
 */
export const shownJobs: Migration = {
  name: "0052-shown-jobs",
  async up(knex, columns, names) {
    const [jobs, index] = [names.of("jobs"), names.of("jobs_listed")];
    await addColumn(knex, jobs, "shown_request", (table, name) => columns.json(table, name));
    await addIndex(knex, columns, jobs, index, (table) => {
      table.index(["account_id", "kind", "created_at", "id"], index);
    });
  },
};
