import type { Command } from "commander";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, print, table, withApp } from "./output.js";

/** `models list`. */
export function addCatalogueCommands(program: Command, host: CliHost): void {
  const models = addGroup(program, "models", "The models callers can choose");
  addCommand(models, "list", "List the models of all plugins in config", ["models list"]).action(
    async (options: { json?: boolean }) => {
      await withApp(host, async (app, present) => {
        const list = await app.models.list();
        const rows = list.map(({ model, status }) => [model.id, `${model.creditCost} credits`, status]);
        print(
          host,
          options,
          { models: list.map((model) => present.model(model)) },
          rows.length === 0 ? ["No models."] : table(rows),
        );
      });
    },
  );
}
