import { isAbsolute, resolve } from "node:path";
import { hostUrls } from "../../core/host-urls.js";
import type { UrlForm } from "../../core/ports/adapter.js";

/** The forms of URL that adapters take, by scheme. */
export type UrlForms = Readonly<Record<string, UrlForm>>;

/** What is in front of the first colon. */
export function schemeOf(url: string): string {
  return url.slice(0, url.indexOf(":"));
}

/** The path in a URL such as `sqlite:/var/lib/fermata/fermata.sqlite`. */
export function pathOfUrl(url: string): string {
  return url.slice(url.indexOf(":") + 1);
}

/** As an issue names what is allowed: `memory: or amqp://HOST`. */
export function formsText(forms: UrlForms): string {
  return Object.values(forms)
    .map(({ form }) => form)
    .join(" or ");
}

/** Whether a URL has one of these forms. */
export function hasForm(url: string, forms: UrlForms): boolean {
  const form = formOf(url, forms);
  if (form === null) return false;
  if (form.takesSeveralHosts !== true) return hasRest(url, form.rest);
  return hostsIssue(url, forms) === null && hostUrls(url).every((one) => hasRest(one, form.rest));
}

/** What is wrong with a list of hosts; null: nothing, or the URL has no list. */
export function hostsIssue(url: unknown, forms: UrlForms): string | null {
  if (typeof url !== "string" || formOf(url, forms)?.takesSeveralHosts !== true) return null;
  try {
    hostUrls(url);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The URL with an absolute path, where its form has a path; a relative one is seen from `cwd`. */
export function completeUrl(url: string, forms: UrlForms, cwd: string): string {
  if (formOf(url, forms)?.rest !== "path") return url;
  const path = pathOfUrl(url).replace(/^\/\/(?=\/)/, "");
  const isFile = path !== ":memory:" && !isAbsolute(path);
  return `${schemeOf(url)}:${isFile ? resolve(cwd, path) : path}`;
}

function formOf(url: string, forms: UrlForms): UrlForm | null {
  const scheme = /^([a-z][a-z0-9+.-]*):/.exec(url)?.[1];
  return scheme !== undefined && Object.hasOwn(forms, scheme) ? (forms[scheme] ?? null) : null;
}

function hasRest(url: string, rest: UrlForm["rest"]): boolean {
  if (rest === "nothing" || rest === "path") return (pathOfUrl(url) === "") === (rest === "nothing");
  if (!URL.canParse(url)) return false;
  const { hostname, pathname } = new URL(url);
  return hostname !== "" && (rest === "server" || pathname.length > 1);
}
