import { addColumn, addIndex, createTable, type Migration } from "./migration.js";

/** Splits and their files, fallbacks, costs of attempts, callbacks of providers, and cancelled work to report. */
export const providers: Migration = {
  name: "0014-providers",
  creates: ["job_outputs", "provider_callbacks"],
  async up(knex, columns, names) {
    await addColumn(knex, names.of("jobs"), "served_model_id", (table, name) => columns.id(table, name, 100));
    await addColumn(knex, names.of("jobs"), "cancel_due_at", (table, name) => columns.integer(table, name));
    await addIndex(knex, columns, names.of("jobs"), names.of("jobs_cancel_due"), (table) => {
      columns.indexWhereSet(knex, table, ["provider_id", "cancel_due_at"], "cancel_due_at", {
        name: names.of("jobs_cancel_due"),
      });
    });
    // An earlier job was never moved to a fallback: its provider is the requested one.
    await knex(names.of("jobs"))
      .whereNull("served_model_id")
      .update({ served_model_id: knex.ref("model_id") });
    await addColumn(knex, names.of("job_attempts"), "billable", (table, name) => columns.id(table, name, 10));
    await addColumn(knex, names.of("tracks"), "origin", (table, name) => columns.json(table, name));
    await createTable(knex, names.of("job_outputs"), (table) => {
      columns.id(table, "job_id").notNullable();
      columns.integer(table, "position").notNullable();
      columns.words(table, "label", 100).notNullable();
      columns.words(table, "audio_key", 255).notNullable();
      columns.id(table, "content_type", 100).notNullable();
      columns.integer(table, "size_bytes").notNullable();
      columns.integer(table, "duration_ms");
      table.primary(["job_id", "position"]);
    });
    await createTable(knex, names.of("provider_callbacks"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.id(table, "job_id").notNullable();
      columns.id(table, "provider_id", 40).notNullable();
      columns.id(table, "digest", 64).notNullable();
      columns.integer(table, "received_at").notNullable();
      columns.integer(table, "read_at");
      columns.json(table, "headers").notNullable();
      columns.json(table, "query").notNullable();
      columns.text(table, "body").notNullable();
      table.unique(["job_id", "digest"], { indexName: names.of("provider_callbacks_digest") });
      table.index(["received_at"], names.of("provider_callbacks_received"));
    });
  },
};
