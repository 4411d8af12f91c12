import { type Command, Option } from "commander";
import { OperationRefusedError } from "../../../core/errors.js";
import type { CliHost } from "../host.js";
import type { CallerApi } from "./caller-api.js";
import type { CallerServer } from "./caller-host.js";
import { DEFAULT_PROFILE, profilesPath, readProfiles } from "./profiles.js";

/** Where the server and the key come from. */
export interface ServerFlags {
  readonly url?: string;
  readonly profile?: string;
  /** What was given of it, `true` without a value: it is refused. */
  readonly apiKey?: string | true;
}

const SOURCES = "set FERMATA_URL and FERMATA_API_KEY, or run `fermata login`";

/** Adds what names a server. */
export function addServerOptions(command: Command): Command {
  return command
    .option("--url <url>", "the server; else FERMATA_URL, else that of the profile")
    .option("--profile <name>", "a profile of `fermata login`; else FERMATA_PROFILE, else default")
    .addOption(new Option("--api-key [key]").hideHelp());
}

/** Whether a server is named without a look at the profiles. */
export function namesServer({ caller: { env } }: CliHost, { url, profile }: ServerFlags): boolean {
  return (url ?? profile ?? given(env["FERMATA_URL"])) !== undefined;
}

/**
 * Connects to the server that flags, environment and profile name, in this order. Calls nothing yet.
 *
 * @param otherwise what else the command takes, for the error where no server is named
 */
export async function connect(host: CliHost, flags: ServerFlags, command: Command, otherwise = ""): Promise<CallerApi> {
  return host.caller.connect(await serverOf(host, flags, command, otherwise));
}

/**
 * The server, and the key for it. A profile's key is for the profile's server alone.
 *
 * @throws {OperationRefusedError} there is no key for it, or no such profile
 */
export async function serverOf(
  host: CliHost,
  flags: ServerFlags,
  command: Command,
  otherwise = "",
): Promise<CallerServer> {
  refuseKeyIn(flags, command);
  const { env } = host.caller;
  // A profile that is named goes before the environment, as every flag does.
  const isProfileNamed = flags.profile !== undefined;
  const url = flags.url ?? (isProfileNamed ? undefined : given(env["FERMATA_URL"]));
  const apiKey = isProfileNamed ? undefined : given(env["FERMATA_API_KEY"]);
  const address = url === undefined ? undefined : addressOf(url, command);
  if (address !== undefined && apiKey !== undefined) return { url: address, apiKey };

  const name = flags.profile ?? given(env["FERMATA_PROFILE"]) ?? DEFAULT_PROFILE;
  const path = profilesPath(host.caller);
  const profiles = await readProfiles(path);
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile === undefined && (isProfileNamed || given(env["FERMATA_PROFILE"]) !== undefined)) {
    const names = Object.keys(profiles).join(", ");
    throw new OperationRefusedError(`There is no profile ${name} in ${path}; it has: ${names || "none"}.`);
  }
  if (address === undefined) {
    if (profile === undefined) return command.error(`error: no server is named: ${SOURCES}${otherwise}`);
    return { url: addressOf(profile.url, command), apiKey: apiKey ?? profile.apiKey };
  }
  if (profile === undefined) throw new OperationRefusedError(`There is no API key for ${address}: ${SOURCES}.`);
  if (addressOf(profile.url, command) !== address) {
    throw new OperationRefusedError(
      `There is no API key for ${address}: the one of the profile ${name} is for ${profile.url} alone. ` +
        "Set FERMATA_API_KEY, or run `fermata login` with --url and --profile.",
    );
  }
  return { url: address, apiKey: profile.apiKey };
}

/** A key in a command line is in the shell's history and in lists of processes. */
export function refuseKeyIn({ apiKey }: ServerFlags, command: Command): void {
  if (apiKey !== undefined)
    command.error("error: --api-key is refused, since other users can see it; set FERMATA_API_KEY or run login");
}

/** The address in one spelling. */
export function addressOf(text: string, command: Command): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAddress =
    url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "" && url.password === "";
  if (!isAddress || url.search !== "" || url.hash !== "")
    return command.error("error: the address of the server is invalid. Allowed: one such as https://music.example");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** An empty variable is none. */
function given(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}
