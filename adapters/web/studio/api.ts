import createClient from "openapi-fetch";
import type { components, paths } from "../generated/api.js";
import { BASE_URL } from "../parts/base.js";
import { sessionEnded } from "./shell/session.js";

type Schemas = components["schemas"];
export type Model = Schemas["Model"];
export type ModelOption = Schemas["ModelOption"];
export type GenerationRequest = Schemas["GenerationRequest"];
export type Generation = Schemas["Generation"];
export type Track = Schemas["Track"];
export type TrackDetails = Schemas["TrackDetails"];
export type SplitOffer = Schemas["SplitOffer"];
export type Job = Schemas["Job"];
export type JobOutput = Schemas["JobOutput"];
export type JobError = NonNullable<Job["error"]>;

/** The public API, as the account of the session. */
export const api = createClient<paths>({
  baseUrl: BASE_URL.replace(/\/$/, ""),
  headers: { "X-Client": "studio" },
});
api.use({
  onResponse({ response }) {
    if (response.status === 401) sessionEnded();
  },
});

/** What callers reach this server by, without a slash at its end. */
export const PUBLIC_URL = document.documentElement.dataset["publicUrl"] ?? "";

/**
 * The same address at the server that the page came from: addresses in responses begin with the public URL, which may
 * be another name of that server, and the page may reach no other.
 */
export function here(url: string): string {
  return url.startsWith(`${PUBLIC_URL}/`) ? `${BASE_URL}${url.slice(PUBLIC_URL.length + 1)}` : url;
}
