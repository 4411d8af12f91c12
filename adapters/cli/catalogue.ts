import type { Command } from "commander";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, print, table } from "./output.js";

/** `models list`. */
export function addCatalogueCommands(program: Command, host: CliHost): void {
  const models = addGroup(program, "models", "The models callers can choose");
  addCommand(models, "list", "List the models of all plugins in config; without the storage", ["models list"]).action(
    async (options: { json?: boolean }) => {
      const { models: list } = await host.catalogue();
      const rows = list.map(({ id, credit_cost: cost, status }) => [id, `${cost} credits`, status]);
      print(host, options, { models: list }, rows.length === 0 ? ["No models."] : table(rows));
    },
  );
}
