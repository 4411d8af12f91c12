import type { Command } from "commander";
import { OperationRefusedError } from "../../core/errors.js";
import type { CliHost } from "./host.js";
import { accountIn, addCommand, addGroup, iso, print, withApp } from "./output.js";

/** The account of the first start. */
const DEFAULT_ACCOUNT = "demo";

/** `studio …`. */
export function addStudioCommands(program: Command, host: CliHost): void {
  const studio = addGroup(program, "studio", "Open the studio, the page to make music with");
  addCommand(studio, "link [account]", "Make a link that opens the studio for an account, without a key", [
    "studio link",
    "studio link alice",
    "studio link acct_01j… --json",
  ]).action(async (given: string | undefined, options: { readonly json?: boolean }) => {
    await withApp(host, async (app) => {
      const id = await accountIn(app, given ?? DEFAULT_ACCOUNT);
      const link = await app.studioLink(id);
      if (link === null) throw new OperationRefusedError("There is no studio: `studio.enabled` is false.");
      const { url, expiresAt } = link;
      const lines = [url, "", `It opens the studio as ${given ?? DEFAULT_ACCOUNT} until ${iso(expiresAt)}.`];
      print(host, options, { account_id: id, url, expires_at: iso(expiresAt) }, lines);
    });
  });
}
