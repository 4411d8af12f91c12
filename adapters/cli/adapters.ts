import type { Command } from "commander";
import type { CheckedAdapter, CliHost } from "./host.js";
import { addCommand, addGroup, CommandFailed, print, withProgress } from "./output.js";
import { namedValue } from "./values.js";

interface CheckOptions {
  readonly json?: boolean;
  readonly url?: string;
  readonly option: ReadonlyMap<string, string>;
}

/** `adapters check`. */
export function addAdapterCommands(program: Command, host: CliHost): void {
  const adapters = addGroup(program, "adapters", "Adapters for storage, queue and audio");
  addCommand(adapters, "check", "Say what is wrong with an adapter, and prove it by its port's contract suite", [
    "adapters check ./redis-queue.js",
    "adapters check ./redis-queue.js --url redis://127.0.0.1:6379/15 --option stream=test",
    "adapters check --url sqlite:/tmp/empty.sqlite",
  ])
    .argument("[adapter]", "a path or the name of a package, as `queue.use` has it; without it the built-in of --url")
    .option("--url <url>", "an empty place for tests, which the contract suite fills; without it nothing is opened")
    .option(
      "--option <name=value>",
      "a setting of the adapter's own, for --url; can be repeated",
      namedValue,
      new Map(),
    )
    .action(async (use: string | undefined, { url, option, ...options }: CheckOptions, command: Command) => {
      if (use === undefined && url === undefined) command.error("error: name an adapter, or give --url, or both");
      if (url === undefined && option.size > 0) command.error("error: --option needs --url");
      const check = (): Promise<CheckedAdapter> =>
        host.checkAdapter(use ?? null, url ?? null, Object.fromEntries(option));
      const checked = await (url === undefined ? check() : withProgress(host, "Running the contract suite", check));
      const isOk = checked.issues.length === 0 && (checked.contract?.failures.length ?? 0) === 0;
      print(host, options, { ok: isOk, ...checked }, described(checked));
      if (!isOk) throw new CommandFailed();
    });
}

function described({ source, port, urls, settings, issues, contract }: CheckedAdapter): string[] {
  const own = settings.length === 0 ? "no settings of its own" : `settings ${settings.join(", ")}`;
  const lines = [`${source}: ${port ?? "(no port)"}; ${urls.join(" or ") || "(no URL)"}; ${own}`];
  for (const issue of issues) lines.push(`  issue   ${issue}`);
  if (contract === null) {
    const next = "Its contract suite was not run: give it an empty place for tests with --url.";
    return [...lines, issues.length === 0 ? "Nothing is wrong with its definition." : `${issues.length} found.`, next];
  }
  for (const { title, message } of contract.failures) lines.push(`  failed  ${title}`, `          ${message}`);
  return [...lines, `Contract suite: ${contract.passed} passed, ${contract.failures.length} failed.`];
}
