import { FermataError } from "../core/errors.js";
import type { App } from "./app.js";

/**
 * The address of the studio; null where there is none. On a terminal it opens the studio for the account `demo`, where
 * that is there: anything else that reads the output of a server, such as a journal, is read by others and kept.
 *
 * @param url where the server listens
 */
export async function studioAt(app: App, url: string, isTerminal: boolean): Promise<string | null> {
  if (!app.settings.studio.enabled) return null;
  const link = isTerminal ? await linkForDemo(app) : null;
  return link ?? `${app.settings.http.publicUrl ?? url}/`;
}

/** What to print of it. @param invocation how `fermata` is called here */
export function inviteTo(address: string, invocation: string): string {
  const how = address.includes("#")
    ? ""
    : `\n  Sign in with an API key, or get a link that needs none: ${invocation} studio link\n`;
  return `\nMake music in the studio:\n\n  ${address}\n${how}`;
}

async function linkForDemo(app: App): Promise<string | null> {
  try {
    const { id } = await app.accounts.find("demo");
    return (await app.studioLink(id))?.url ?? null;
  } catch (error) {
    // None of this name, or several.
    if (FermataError.is(error)) return null;
    throw error;
  }
}
