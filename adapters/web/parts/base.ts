/** What the addresses of both APIs begin with, whatever prefix the page is served under; with a slash at its end. */
export const BASE_URL = new URL(".", document.baseURI).href;

/** The version of Fermata that serves the page. */
export const VERSION = document.documentElement.dataset["version"] ?? "";
