import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import type { OptionValue, RequestOption, RequestOptions } from "../../core/ports/music-provider.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, print, withApp } from "./output.js";
import { wholeNumber } from "./values.js";

interface GenerationFlags {
  readonly account: string;
  readonly lyrics?: string;
  readonly duration?: number;
  readonly instrumental?: boolean;
  readonly option: ReadonlyMap<string, string>;
  readonly json?: boolean;
}

/** `generations …`. */
export function addGenerationCommands(program: Command, host: CliHost): void {
  const generations = addGroup(program, "generations", "Create generations for an account");
  addCommand(generations, "create <model> <prompt>", "Create a generation", [
    'generations create synth/song "slow waltz, rain" --account acct_01j… --duration 30',
    'generations create synth/song "slow waltz, rain" --account acct_01j… --option seed=42 --option "key=F# minor"',
  ])
    .requiredOption("--account <id>", "who pays and gets the tracks")
    .option("--lyrics <text>", "words to sing")
    .option("--duration <seconds>", "whole seconds", wholeNumber)
    .option("--instrumental", "without a voice")
    .option("--option <name=value>", "an option of the model (models list --json); repeatable", namedValue, new Map())
    .action(async (modelId: string, prompt: string, flags: GenerationFlags) => {
      await withApp(host, async (app, present) => {
        const { account, lyrics, duration, instrumental, option } = flags;
        const { model } = await app.models.get(modelId);
        const options = optionsFromText(model.requestOptions, option);
        const job = await app.generations.create(account, { modelId, prompt, lyrics, duration, instrumental, options });
        const shown = { id: job.id, ...present.job({ job, tracks: [], outputs: [] }) };
        print(host, flags, shown, [
          `Queued ${job.id} for ${job.creditsCharged} credits.`,
          `See it with: jobs show ${job.id}`,
        ]);
      });
    });
}

/** Converts text to the types that the model declares. What does not read as its type stays text, which is refused. */
export function optionsFromText(
  declared: RequestOptions = {},
  given: ReadonlyMap<string, string>,
): { readonly [name: string]: OptionValue } {
  const typeOf = (name: string): RequestOption["type"] =>
    (Object.hasOwn(declared, name) ? declared[name]?.type : undefined) ?? "string";
  return Object.fromEntries([...given].map(([name, text]) => [name, valueOf(typeOf(name), text)]));
}

function valueOf(type: RequestOption["type"], text: string): OptionValue {
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  const isNumber = (type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text);
  return isNumber ? Number(text) : text;
}

/** Adds `name=value` to those before it. @throws {InvalidArgumentError} */
function namedValue(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Allowed: name=value, such as seed=42.");
  const name = text.slice(0, at);
  if (before.has(name)) throw new InvalidArgumentError(`${name} is given twice.`);
  return new Map([...before, [name, text.slice(at + 1)]]);
}
