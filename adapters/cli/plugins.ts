import { type Command, InvalidArgumentError } from "commander";
import { checkProvider, type CheckedProvider } from "../../core/providers/check-provider.js";
import type { CliHost } from "./host.js";
import { checkLive, type LiveOptions } from "./live-check.js";
import { addCommand, addGroup, CommandFailed, print, table } from "./output.js";
import { scaffold } from "./scaffold.js";

type CheckOptions = LiveOptions & { readonly live?: boolean };
type Json = { readonly json?: boolean };

/** `plugins list`, `plugins new` and `plugins check`. */
export function addPluginCommands(program: Command, host: CliHost): void {
  const plugins = addGroup(program, "plugins", "The provider plugins");
  addCommand(plugins, "list", "List the plugins named in config; without the storage", ["plugins list --json"]).action(
    async (options: Json) => {
      const { plugins: list } = await host.catalogue();
      const rows = list.map((plugin) => [
        plugin.id,
        plugin.enabled ? "enabled" : "off",
        plugin.source,
        plugin.models.join(", "),
      ]);
      print(host, options, { plugins: list }, rows.length === 0 ? ["No plugins."] : table(rows));
    },
  );
  addCommand(plugins, "new", "Write a package for a provider, with its tests", [
    "plugins new nightingale",
    "plugins new nightingale --dir ~/code/nightingale",
  ])
    .argument(
      "<name>",
      "the provider's id: up to 30 lower-case letters, digits and -, of no built-in plugin",
      providerId,
    )
    .option("--dir <dir>", "where to; a folder that is empty or not there yet (default: fermata-NAME)")
    .action(async (name: string, options: Json & { readonly dir?: string }, command: Command) => {
      const taken = await host.builtInPlugins();
      if (taken.includes(name))
        command.error(`error: the id ${name} is that of a built-in plugin; choose one other than ${taken.join(", ")}`);
      const files = await scaffold(name, host.root);
      const directory = await host.writePackage(options.dir ?? `fermata-${name}`, files);
      const paths = [...files.keys()];
      const next = [
        `Wrote ${paths.length} files to ${directory}.`,
        `Next: cd ${directory} && npm install && npm test; its README.md says how to go on.`,
      ];
      print(host, options, { id: name, directory, files: paths }, next);
    });
  addCommand(plugins, "check", "Say what is wrong with a plugin, all at once", [
    "plugins check .",
    "plugins check @example/fermata-nightingale --json",
    "plugins check --live sonauto",
    "plugins check --live . --model nightingale/v2 --yes",
  ])
    .argument("<plugin>", "a path or the name of a package, as `use` has it in config; with --live also an id")
    .option("--live", "prove it with the key of the settings against the real service; asks before it buys")
    .option("--model <id>", "with --live: the model of the generation (default: the cheapest)")
    .option("--yes", "with --live: without asking")
    .action(async (use: string, { live = false, ...options }: CheckOptions, command: Command) => {
      if (live) return checkLive(host, use, options, command);
      if (options.model !== undefined || options.yes === true) command.error("error: --model and --yes need --live");
      const checked = await checkProvider(await host.importPackage(use));
      print(host, options, presented(checked), described(checked));
      if (checked.issues.length > 0) throw new CommandFailed();
    });
}

function providerId(text: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,29}$/.test(text))
    throw new InvalidArgumentError("Allowed: up to 30 lower-case letters, digits and -, the first no -.");
  return text;
}

/** `mistakes` is the older name of `issues`, for one minor version. */
function presented({ id, portVersion, ours, models, issues, notes }: CheckedProvider): object {
  return {
    id,
    ok: issues.length === 0,
    port_version: portVersion,
    fermata_port_version: ours,
    models,
    issues,
    mistakes: issues,
    notes,
  };
}

function described({ id, portVersion, ours, models, issues, notes }: CheckedProvider): string[] {
  const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;
  const head =
    `${id ?? "(no id)"}: port version ${portVersion ?? "(none)"}, this Fermata's ${ours}; ` +
    `${count(models.length, "model")}`;
  const verdict = issues.length === 0 ? "Nothing is wrong." : `${count(issues.length, "issue")}.`;
  return [head, ...issues.map((issue) => `  issue  ${issue}`), ...notes.map((note) => `  note   ${note}`), verdict];
}
