import { checkOneOf, createTable, type Migration } from "./migration.js";

export const jobs: Migration = {
  name: "0003-jobs",
  creates: ["jobs", "job_attempts"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("jobs"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.id(table, "account_id").notNullable();
      columns.id(table, "kind", 30).notNullable();
      columns.id(table, "operation", 100).notNullable();
      columns.id(table, "provider_id", 40).notNullable();
      columns.id(table, "model_id", 100).notNullable();
      columns.id(table, "request_id");
      columns.integer(table, "reserved_monthly").notNullable();
      columns.integer(table, "reserved_pack").notNullable();
      columns.integer(table, "credits_charged").notNullable();
      columns.id(table, "status", 20).notNullable();
      columns.id(table, "phase", 20).notNullable();
      columns.integer(table, "attempt").notNullable();
      columns.integer(table, "refusals").notNullable();
      columns.integer(table, "crashes").notNullable();
      columns.integer(table, "fence").notNullable();
      columns.id(table, "lease_owner");
      columns.integer(table, "due_at");
      columns.integer(table, "created_at").notNullable();
      columns.integer(table, "completed_at");
      columns.json(table, "handle");
      columns.json(table, "error");
      // Last, since it is long and never changes: what does change stays in the row's first page.
      columns.json(table, "request").notNullable();
      columns.indexWhereSet(knex, table, ["provider_id", "phase", "due_at"], "due_at", { name: names.of("jobs_due") });
      columns.indexWhereSet(knex, table, ["lease_owner"], "lease_owner", { name: names.of("jobs_lease") });
      table.index(["account_id", "status", "created_at", "id"], names.of("jobs_account"));
      table.index(["status", "created_at", "id"], names.of("jobs_status"));
      checkOneOf(table, names.of("jobs_status_known"), "status", ["queued", "processing", "completed", "failed"]);
      checkOneOf(table, names.of("jobs_phase_known"), "phase", ["waiting", "submitting", "rendering", "ended"]);
      table.check(
        "reserved_monthly >= 0 and reserved_pack >= 0 and credits_charged >= 0",
        undefined,
        names.of("jobs_credits_not_negative"),
      );
    });
    await createTable(knex, names.of("job_attempts"), (table) => {
      columns.id(table, "job_id").notNullable();
      columns.integer(table, "number").notNullable();
      columns.id(table, "id").notNullable();
      columns.id(table, "provider_id", 40).notNullable();
      columns.integer(table, "started_at").notNullable();
      columns.integer(table, "ended_at");
      columns.id(table, "outcome", 30);
      columns.text(table, "message");
      columns.json(table, "cost");
      table.primary(["job_id", "number"]);
      table.unique(["id"], { indexName: names.of("job_attempts_id") });
    });
  },
};
