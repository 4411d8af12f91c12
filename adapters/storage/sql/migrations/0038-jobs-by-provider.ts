import { addIndex, type Migration } from "./migration.js";

/** Operators list the jobs of a provider, in whichever state. */
export const jobsByProvider: Migration = {
  name: "0038-jobs-by-provider",
  async up(knex, columns, names) {
    const [jobs, index] = [names.of("jobs"), names.of("jobs_provider")];
    await addIndex(knex, columns, jobs, index, (table) => {
      table.index(["provider_id", "status", "created_at", "id"], index);
    });
  },
};
