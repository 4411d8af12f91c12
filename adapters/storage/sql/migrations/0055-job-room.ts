import type { Migration } from "./migration.js";

/** Of a new job: what a worker and the job's end fill in is as long as this, and what was there before. */
const BLANKS = 39;
const BLANKS_MAX = 60;

/** Where a row that grows is moved, rows of jobs have room for what their workers fill in. */
export const jobRoom: Migration = {
  name: "0055-job-room",
  async up(knex, { blanks }, names) {
    const jobs = names.of("jobs");
    if (blanks === null || (await knex.schema.hasColumn(jobs, "room"))) return;
    await knex.schema.alterTable(jobs, (table) => void blanks(table, "room", BLANKS_MAX).defaultTo(" ".repeat(BLANKS)));
  },
};
