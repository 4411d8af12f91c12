/**
 * An open database of the app that embeds Fermata, with room for Fermata's tables. What it can be is the storage's to
 * say: a knex instance of the client `mysql2` or `better-sqlite3`, a pool of mysql2, a database of better-sqlite3.
 */
export type HostDatabase = object;
