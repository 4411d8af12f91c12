import { addColumn, addIndex, createClustered, createTable, type Migration } from "./migration.js";

const ITEM = ["shelf", "created_at", "item_id", "title", "label", "prompt", "tags"];
/** Fewer items of a partition are searched faster than they are indexed. */
const MANY = 4_096;

/** The search index is stored in segments, which are written once, instead of in a row for each word of each item. */
export const searchSegments: Migration = {
  name: "0015-search-segments",
  creates: ["search_loose", "search_segments", "search_postings", "search_due", "search_upkeep"],
  async up(knex, columns, names) {
    await addColumn(knex, names.of("search_items"), "slot", (table, name) => columns.integer(table, name));
    await addIndex(knex, columns, names.of("search_items"), names.of("search_items_slot"), (table) => {
      table.index(["shelf", "slot"], names.of("search_items_slot"));
    });
    // What is in no segment, once more and side by side.
    await createClustered(knex, columns, names.of("search_loose"), (table) => {
      columns.id(table, "shelf").notNullable();
      columns.integer(table, "created_at").notNullable();
      columns.id(table, "item_id").notNullable();
      for (const text of ["title", "label", "prompt", "tags"]) columns.text(table, text).notNullable();
      table.primary(["shelf", "created_at", "item_id"]);
    });
    await knex(names.of("search_loose")).delete();
    await knex(knex.raw(`?? (${ITEM.map(() => "??").join(", ")})`, [names.of("search_loose"), ...ITEM])).insert(
      knex(names.of("search_items")).select(ITEM),
    );
    await createClustered(knex, columns, names.of("search_segments"), (table) => {
      columns.id(table, "shelf").notNullable();
      columns.integer(table, "segment").notNullable();
      columns.integer(table, "newest").notNullable();
      columns.integer(table, "oldest").notNullable();
      columns.bytes(table, "dead", 512);
      table.primary(["shelf", "segment"]);
    });
    await createClustered(knex, columns, names.of("search_postings"), (table) => {
      columns.id(table, "shelf").notNullable();
      columns.integer(table, "segment").notNullable();
      // What it is, and a word.
      columns.words(table, "term", 41).notNullable();
      columns.bytes(table, "places", 1_600).notNullable();
      table.primary(["shelf", "segment", "term"]);
    });
    // Which shelves got something new.
    await createTable(knex, names.of("search_due"), (table) => {
      columns.id(table, "shelf").notNullable();
      columns.id(table, "item_id").notNullable();
      columns.integer(table, "created_at").notNullable();
      table.primary(["shelf", "item_id"]);
    });
    // The process that indexes locks its one row.
    await createTable(knex, names.of("search_upkeep"), (table) => {
      columns.integer(table, "id").notNullable().primary();
    });
    await knex(names.of("search_upkeep")).insert({ id: 1 }).onConflict().ignore();
    const many = knex(names.of("search_items"))
      .select("shelf")
      .min("item_id")
      .min("created_at")
      .groupBy("shelf")
      .havingRaw("COUNT(*) >= ?", [MANY]);
    await knex(names.of("search_due")).delete();
    await knex(knex.raw("?? (??, ??, ??)", [names.of("search_due"), "shelf", "item_id", "created_at"])).insert(many);
    await knex.schema.dropTableIfExists(names.of("search_terms"));
  },
};
