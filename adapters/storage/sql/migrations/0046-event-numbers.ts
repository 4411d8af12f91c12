import { addColumn, addIndex, inSteps, type Migration } from "./migration.js";

/**
 * Events of an account are listed by numbers: those of the ledger entries that settled their jobs. The new index leads
 * to all events of an account as well, so that the older one goes and an event costs no more index writes than before.
 */
export const eventNumbers: Migration = {
  name: "0046-event-numbers",
  async up(knex, columns, names) {
    const events = names.of("webhook_events");
    await addColumn(knex, events, "number", (table, name) => columns.integer(table, name));
    const entry = knex(names.of("ledger_entries"))
      .max("seq")
      .where({ job_id: knex.ref(`${events}.job_id`), phase: "close" });
    await inSteps(knex, events, (ofStep) =>
      ofStep.whereNotNull("job_id").whereNull("number").update({ number: entry }).then(),
    );
    const [numbers, accounts] = [names.of("webhook_events_numbers"), names.of("webhook_events_account")];
    await addIndex(knex, columns, events, numbers, (table) => void table.index(["account_id", "number"], numbers));
    if (await columns.hasIndex(knex, events, accounts)) {
      await knex.schema.alterTable(events, (table) => void table.dropIndex([], accounts));
    }
  },
};
