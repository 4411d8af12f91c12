import { signal } from "@preact/signals";

/** What the address shows, behind its `#`: pages need no routes on the server, and work under any prefix. */
export interface Route {
  /** `/jobs/job_…` → `["jobs", "job_…"]`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

/** Follows the address. */
export const route = signal<Route>(read());

addEventListener("hashchange", () => (route.value = read()));

/** @param to as links have it: `/jobs?status=failed`; every part of it encoded */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", `#${to}`);
  else history.pushState(null, "", `#${to}`);
  route.value = read();
}

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#/, "").split("?", 2);
  const parts = path.split("/").filter((part) => part !== "");
  return { parts: parts.map(decoded), query: new URLSearchParams(query) };
}

/** Typed by hand, an address may hold what is no encoding. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
