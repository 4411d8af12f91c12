import { checkOneOf, createTable, type Migration } from "./migration.js";

export const webhooks: Migration = {
  name: "0010-webhooks",
  creates: ["webhook_endpoints", "webhook_events", "webhook_deliveries", "webhook_tries"],
  async up(knex, columns, names) {
    await createTable(knex, names.of("webhook_endpoints"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.id(table, "account_id").notNullable();
      columns.text(table, "url").notNullable();
      columns.id(table, "status", 20).notNullable();
      columns.id(table, "secret_prefix", 20).notNullable();
      columns.text(table, "sealed_secret").notNullable();
      columns.json(table, "retired_secrets").notNullable();
      columns.integer(table, "created_at").notNullable();
      columns.integer(table, "updated_at").notNullable();
      columns.integer(table, "disabled_at");
      columns.id(table, "disabled_by", 20);
      columns.json(table, "health").notNullable();
      // The status stands in it because every ended job asks which endpoints are active.
      table.index(["account_id", "id", "status"], names.of("webhook_endpoints_account"));
      checkOneOf(table, names.of("webhook_endpoints_status_known"), "status", ["active", "disabled"]);
      checkOneOf(table, names.of("webhook_endpoints_disabled_by_known"), "disabled_by", ["user", "gone", "failing"]);
    });
    await createTable(knex, names.of("webhook_events"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.id(table, "account_id").notNullable();
      columns.id(table, "job_id");
      columns.id(table, "type", 100).notNullable();
      columns.integer(table, "created_at").notNullable();
      columns.text(table, "body").notNullable();
      table.index(["created_at"], names.of("webhook_events_age"));
    });
    await createTable(knex, names.of("webhook_deliveries"), (table) => {
      columns.id(table, "id").notNullable().primary();
      columns.id(table, "event_id").notNullable();
      columns.id(table, "endpoint_id").notNullable();
      columns.id(table, "state", 20).notNullable();
      columns.integer(table, "attempts").notNullable();
      columns.integer(table, "fence").notNullable();
      columns.id(table, "lease_owner");
      columns.integer(table, "due_at");
      columns.integer(table, "created_at").notNullable();
      columns.integer(table, "ended_at");
      table.unique(["event_id", "endpoint_id"], { indexName: names.of("webhook_deliveries_event") });
      // What is due of one endpoint, and of all of them.
      columns.indexWhereSet(knex, table, ["state", "endpoint_id", "due_at"], "due_at", {
        name: names.of("webhook_deliveries_due"),
      });
      columns.indexWhereSet(knex, table, ["state", "due_at", "endpoint_id"], "due_at", {
        name: names.of("webhook_deliveries_next"),
      });
      table.index(["endpoint_id", "state", "created_at", "id"], names.of("webhook_deliveries_endpoint"));
      checkOneOf(table, names.of("webhook_deliveries_state_known"), "state", [
        "pending",
        "delivered",
        "exhausted",
        "dropped",
      ]);
    });
    await createTable(knex, names.of("webhook_tries"), (table) => {
      columns.id(table, "delivery_id").notNullable();
      columns.integer(table, "number").notNullable();
      columns.integer(table, "started_at").notNullable();
      table.boolean("is_manual").notNullable();
      columns.id(table, "failure", 30);
      columns.integer(table, "status");
      columns.integer(table, "retry_after_ms");
      columns.json(table, "phases").notNullable();
      columns.text(table, "message");
      columns.text(table, "excerpt").notNullable();
      table.primary(["delivery_id", "number"]);
    });
  },
};
