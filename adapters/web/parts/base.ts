/** What the addresses of both APIs begin with, whatever prefix the page is served under; with a slash at its end. */
export const BASE_URL = new URL(".", document.baseURI).href;

/** The version of Fermata that serves the page. */
export const VERSION = document.documentElement.dataset["version"] ?? "";

/** What callers reach this server by, without a slash at its end. */
export const PUBLIC_URL = document.documentElement.dataset["publicUrl"] ?? "";
