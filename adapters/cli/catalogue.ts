import type { Command } from "commander";
import { listServedModels } from "./caller/show.js";
import { addServerOptions, namesServer, type ServerFlags } from "./caller/server.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, print, table } from "./output.js";

/** `models list`. */
export function addCatalogueCommands(program: Command, host: CliHost): void {
  const models = addGroup(program, "models", "The models callers can choose");
  const list = addCommand(models, "list", "List the models of all plugins in config, or of a server that is named", [
    "models list",
    "models list --profile default",
  ]);
  addServerOptions(list).action(async (options: ServerFlags & { readonly json?: boolean }, command: Command) => {
    if (namesServer(host, options)) return listServedModels(host, options, command);
    const { models: list } = await host.catalogue();
    const rows = list.map(({ id, credit_cost: cost, status }) => [id, `${cost} credits`, status]);
    print(host, options, { models: list }, rows.length === 0 ? ["No models."] : table(rows));
  });
}
