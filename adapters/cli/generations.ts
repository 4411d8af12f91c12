import type { Command } from "commander";
import type { GivenReference } from "../../core/generations/reference-rules.js";
import { type OptionValue, REFERENCE_MODES, type RequestOption } from "../../core/ports/music-provider.js";
import type { CliHost } from "./host.js";
import { accountIn, addCommand, addGroup, callable, print, withApp } from "./output.js";
import { decimal, namedValue, wholeNumber } from "./values.js";

interface GenerationFlags {
  readonly account: string;
  readonly lyrics?: string;
  readonly duration?: number;
  readonly instrumental?: boolean;
  readonly option: ReadonlyMap<string, string>;
  readonly track?: string;
  readonly mode?: string;
  readonly from?: number;
  readonly to?: number;
  readonly strength?: number;
  readonly json?: boolean;
}

/** `generations …`. */
export function addGenerationCommands(program: Command, host: CliHost): void {
  const generations = addGroup(program, "generations", "Create generations for an account");
  addCommand(generations, "create <model> <prompt>", "Create a generation", [
    'generations create synth/song "slow waltz, rain" --account acct_01j… --duration 30',
    'generations create synth/song "slow waltz, rain" --account acct_01j… --option seed=42 --option "key=F# minor"',
    'generations create synth/song "and louder" --account acct_01j… --track trk_01j… --mode extend --from 20',
  ])
    .requiredOption("--account <account>", "who pays and gets the tracks")
    .option("--lyrics <text>", "words to sing")
    .option("--duration <seconds>", "whole seconds", wholeNumber)
    .option("--instrumental", "without a voice")
    .option("--option <name=value>", "an option of the model (models list --json); repeatable", namedValue, new Map())
    .option("--track <id>", "a track to work from, with --mode")
    .option("--mode <mode>", `what to do with it: ${REFERENCE_MODES.join(", ")}`)
    .option("--from <seconds>", "where extend goes on, or inpaint begins", decimal)
    .option("--to <seconds>", "where inpaint ends", decimal)
    .option("--strength <n>", "how much of the track is kept, 0 to 1", decimal)
    .action(async (modelId: string, prompt: string, flags: GenerationFlags) => {
      await withApp(host, async (app, present) => {
        const { account, lyrics, duration, instrumental, option } = flags;
        const { model } = await app.models.get(modelId);
        const options = optionsFromText(model.requestOptions, option);
        const input = { modelId, prompt, lyrics, duration, instrumental, options, reference: referenceOf(flags) };
        const job = await app.generations.create(await accountIn(app, account), input);
        const shown = { id: job.id, ...present.job({ job, tracks: [], outputs: [] }) };
        print(host, flags, shown, [
          `Queued ${job.id} for ${job.creditsCharged} credits.`,
          callable(host, `See it with \`fermata jobs show ${job.id}\`.`),
        ]);
      });
    });
}

/** The track that the flags name; invalid combinations are refused with their names. */
function referenceOf({ track, mode, from, to, strength }: GenerationFlags): GivenReference | undefined {
  if ([track, mode, from, to, strength].every((flag) => flag === undefined)) return undefined;
  return { trackId: track ?? "", mode: mode ?? "", from, to, strength };
}

/** Converts text to the types that the model declares. What does not read as its type stays text, which is refused. */
export function optionsFromText(
  declared: Readonly<Record<string, Pick<RequestOption, "type">>> = {},
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
