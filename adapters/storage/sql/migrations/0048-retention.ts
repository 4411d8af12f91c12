import type { Migration } from "./migration.js";

/** How far requests of ended jobs are deleted, by status: the rows of `installation` that say so. */
export const REQUEST_CURSORS = [
  { name: "retention_failed", status: "failed" },
  { name: "retention_completed", status: "completed" },
] as const;

const BEGINNING = JSON.stringify({ createdAt: -1, id: "" });

/** Requests of ended jobs are deleted in the order in which they were created, from the first one. */
export const retention: Migration = {
  name: "0048-retention",
  async up(knex, _columns, names) {
    const installation = names.of("installation");
    for (const { name } of REQUEST_CURSORS) {
      const rows = await knex(installation).where({ name }).select("name");
      if (rows.length === 0) await knex(installation).insert({ name, value: BEGINNING });
    }
  },
};
