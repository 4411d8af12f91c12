import { signal } from "@preact/signals";
import { BASE_URL } from "../../parts/base.js";

/** The reader's API key: in this page's memory alone, gone with it. */
export const apiKey = signal("");

/** Whether the reader has signed in at the studio, whose cookie then speaks for them. */
export const hasSession = signal(false);

/** Asks only where there is a studio: elsewhere the browser would report an error. */
export async function findSession(): Promise<void> {
  if (document.documentElement.dataset["studio"] === undefined) return;
  const response = await fetch(`${BASE_URL}api/v1/session`).catch(() => null);
  if (response?.ok !== true) return;
  const { data } = (await response.json()) as { readonly data: { readonly is_open: boolean } };
  hasSession.value = data.is_open;
}
