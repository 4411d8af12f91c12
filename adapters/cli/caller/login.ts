import type { Command } from "commander";
import { OperationRefusedError } from "../../../core/errors.js";
import type { CliHost } from "../host.js";
import { addCommand, print } from "../output.js";
import { DEFAULT_PROFILE, profilesPath, readProfiles, writeProfile } from "./profiles.js";
import { addressOf, addServerOptions, refuseKeyIn, type ServerFlags } from "./server.js";

interface LoginFlags extends ServerFlags {
  readonly json?: boolean;
}

/** `login`. */
export function addLogin(program: Command, host: CliHost): void {
  const command = addCommand(program, "login", "Keep the address of a server and an API key in a profile", [
    "login --url https://music.example",
    "login --url https://music.example --profile work",
    "login --url https://music.example --json",
  ]).addHelpText(
    "after",
    "\nThe key is asked for on a terminal, and else FERMATA_API_KEY or the first line of the standard input.\n",
  );
  addServerOptions(command).action(async (flags: LoginFlags, self: Command) => {
    refuseKeyIn(flags, self);
    const name = flags.profile ?? DEFAULT_PROFILE;
    const path = profilesPath(host.caller);
    // A file that is open to others is refused before a key is typed.
    await readProfiles(path);
    const url = addressOf(flags.url ?? (await addressFrom(host, self)), self);
    const server = { url, apiKey: await keyFrom(host, self) };
    const api = await host.caller.connect(server);
    const { id, account_tier: tier } = await api.profile();
    await writeProfile(path, name, server);
    print(host, flags, { profile: name, url, account_id: id, account_tier: tier, file: path }, [
      `Signed in at ${url} as ${id} (${tier}); the profile ${name} is in ${path}.`,
    ]);
    if (new URL(url).protocol === "http:" && !isOwnMachine(url))
      host.stderr.write("The address begins with http: the key travels unencrypted.\n");
  });
}

async function addressFrom({ caller: { env, ask } }: CliHost, command: Command): Promise<string> {
  const given = env["FERMATA_URL"] ?? "";
  if (given !== "") return given;
  if (ask === null) return command.error("error: no server is named: give --url, or set FERMATA_URL");
  return typed(await ask("Address of the server: "));
}

async function keyFrom({ caller: { env, ask, readLine } }: CliHost, command: Command): Promise<string> {
  const given = env["FERMATA_API_KEY"] ?? "";
  if (given !== "") return given;
  if (ask !== null) return typed(await ask("API key: ", { isHidden: true }));
  const line = ((await readLine()) ?? "").trim();
  return line === "" ? command.error("error: no API key: set FERMATA_API_KEY, or write it to stdin") : line;
}

/** @throws {OperationRefusedError} nothing was typed */
function typed(line: string | null): string {
  const text = line?.trim() ?? "";
  if (text === "") throw new OperationRefusedError("Nothing was changed.");
  return text;
}

function isOwnMachine(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}
