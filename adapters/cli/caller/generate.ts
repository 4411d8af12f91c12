import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { OperationRefusedError } from "../../../core/errors.js";
import { optionsFromText } from "../generations.js";
import type { CliHost } from "../host.js";
import { addCommand, callable, print } from "../output.js";
import { namedValue, wholeNumber } from "../values.js";
import type { AcceptedJob, GenerationInput } from "./caller-api.js";
import { chooseModel } from "./choose-model.js";
import { deliver } from "./deliver.js";
import { addFollowOptions, type FollowFlags, requestJob } from "./run-job.js";
import { destinationOf } from "./save.js";
import { addServerOptions, connect, type ServerFlags } from "./server.js";
import { CLIENT, waitHint } from "./words.js";

interface GenerateFlags extends ServerFlags, FollowFlags {
  readonly model?: string;
  readonly duration?: number;
  readonly lyrics?: string;
  readonly instrumental?: boolean;
  readonly option: ReadonlyMap<string, string>;
  readonly out?: string;
  readonly force?: boolean;
  readonly detach?: boolean;
  readonly key?: string;
}

/** `generate`. */
export function addGenerate(program: Command, host: CliHost): void {
  const command = addCommand(program, "generate <prompt>", "Make music on a server, and fetch it", [
    'generate "slow sad piano" --duration 30 --out rain.mp3',
    'generate "slow waltz" --lyrics @words.txt --option seed=42 --on-interrupt cancel --json',
    'generate "slow waltz" --detach',
  ])
    .option("--model <id>", "default: the cheapest available one that takes what is asked for")
    .option("--duration <seconds>", "whole seconds", wholeNumber)
    .option("--lyrics <text>", "words to sing; @FILE reads them from a file")
    .option("--instrumental", "without a voice")
    .option("--option <name=value>", "an option of the model (models list --json); repeatable", namedValue, new Map())
    .option("--out <file>", "fetch the audio; several tracks are numbered. Without it links are printed")
    .option("--force", "replace files that are there")
    .option("--detach", "do not wait for the end")
    .option("--key <key>", "the Idempotency-Key of an earlier try: nothing is charged twice");
  addServerOptions(addFollowOptions(command)).action(async (prompt: string, flags: GenerateFlags, self: Command) => {
    if (flags.detach === true && flags.out !== undefined)
      self.error("error: --out needs the end, for which --detach does not wait");
    await generate(host, prompt, flags, self);
  });
}

async function generate(host: CliHost, prompt: string, flags: GenerateFlags, command: Command): Promise<void> {
  const { duration, instrumental, out, force, key = randomUUID(), detach = false } = flags;
  const api = await connect(host, flags, command);
  const destination = out === undefined ? null : await destinationOf(host, out, { isFolder: false, force });
  const lyrics = await lyricsOf(host, flags.lyrics);
  const model = await chooseModel(api, flags.model, { prompt, lyrics, duration, instrumental, options: flags.option });
  const declared = Object.fromEntries((model.options ?? []).map((option) => [option.name, option]));
  const input: GenerationInput = {
    model_id: model.id,
    prompt,
    ...(lyrics === undefined ? {} : { lyrics }),
    ...(duration === undefined ? {} : { duration }),
    ...(instrumental === undefined ? {} : { instrumental }),
    ...(flags.option.size === 0 ? {} : { options: optionsFromText(declared, flags.option) }),
    client: CLIENT,
  };
  const request = {
    send: () => api.createGeneration(input, key),
    repeatedWith: `--model ${model.id} --key ${key}`,
  };
  const goOn = (id: string): string => waitHint(id, flags);
  const { accepted, ended } = await requestJob(host, api, request, { ...flags, isDetached: detach }, goOn);
  if (ended === null) return printAccepted(host, accepted, flags, key);
  await deliver(host, api, ended, destination, flags);
}

/** Of a job that is not followed. */
export function printAccepted(
  host: CliHost,
  accepted: AcceptedJob,
  flags: ServerFlags & { readonly json?: boolean },
  key: string,
): void {
  print(host, flags, { ...accepted, idempotency_key: key }, [accepted.id]);
  if (flags.json !== true) host.stderr.write(`${callable(host, waitHint(accepted.id, flags))}\n`);
}

/** @throws {OperationRefusedError} the file cannot be read */
async function lyricsOf(host: CliHost, given: string | undefined): Promise<string | undefined> {
  if (given?.startsWith("@") !== true) return given;
  const path = given.slice(1);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(resolve(host.caller.cwd, path)));
  } catch (error) {
    throw new OperationRefusedError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
