import { addColumn, addIndex, type Migration } from "./migration.js";

/** Ends of jobs are numbered in the order in which readers find them committed; see `numberEnds` of the job store. */
export const endNumbers: Migration = {
  name: "0031-end-numbers",
  async up(knex, columns, names) {
    const [jobs, index] = [names.of("jobs"), names.of("jobs_ends")];
    await addColumn(knex, jobs, "end_number", (table, column) => columns.integer(table, column));
    if (await columns.hasIndex(knex, jobs, index)) return;
    const counters = await knex(names.of("installation")).where({ name: END_COUNTER }).select("name");
    if (counters.length === 0) await knex(names.of("installation")).insert({ name: END_COUNTER, value: "0" });
    // No listener can have heard of what ended before: the first one does not have to number all of it.
    await knex(jobs).whereNotNull("completed_at").whereNull("end_number").update({ end_number: 0 });
    await addIndex(knex, columns, jobs, index, (table) => {
      columns.indexWhereSet(knex, table, ["end_number", "completed_at", "id"], "completed_at", { name: index });
    });
  },
};

/** The row of `installation` with the last number given; who gives numbers locks it. */
export const END_COUNTER = "job_ends";
