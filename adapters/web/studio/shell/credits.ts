import { signal } from "@preact/signals";
import { dataOf } from "../../parts/api-error.js";
import { api } from "../api.js";

/** Credits that can be spent; null until they are known. */
export const credits = signal<number | null>(null);

let latest = 0;

/** After whatever may have moved them. */
export async function refreshCredits(): Promise<void> {
  const asked = ++latest;
  const found = await dataOf(api.GET("/api/v1/credits")).catch(() => null);
  if (found !== null && asked === latest) credits.value = found.available;
}
