/** What a router serves: the public API, with the admin API where that has no port of its own; or the latter alone. */
export type Surface = "public" | "public and admin" | "admin";
