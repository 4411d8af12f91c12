import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { OperationRefusedError } from "../../../core/errors.js";
import type { CallerHost, CallerServer } from "./caller-host.js";

export const DEFAULT_PROFILE = "default";

/** For this user alone. */
const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600];
const OF_OTHERS = 0o077;

type Profiles = Readonly<Record<string, CallerServer>>;

/** `$XDG_CONFIG_HOME/fermata/profiles.json`, by default below `~/.config`. */
export function profilesPath({ env, home }: Pick<CallerHost, "env" | "home">): string {
  const given = env["XDG_CONFIG_HOME"] ?? "";
  // A relative path is to be ignored (XDG Base Directory Specification).
  return join(isAbsolute(given) ? given : join(home, ".config"), "fermata", "profiles.json");
}

/**
 * The profiles of the file; none where there is no file.
 *
 * @throws {OperationRefusedError} other users can read it, or it has another form
 */
export async function readProfiles(path: string): Promise<Profiles> {
  const text = await readPrivate(path);
  if (text === null) return {};
  const profiles = profilesIn(text);
  if (profiles === null) {
    const form = '{ "profiles": { "default": { "url": "https://…", "api_key": "…" } } }';
    throw new OperationRefusedError(`${path} is not a file of profiles; allowed: ${form}`);
  }
  return profiles;
}

/** Adds a profile, or replaces the one of that name. @throws {OperationRefusedError} as {@link readProfiles} */
export async function writeProfile(path: string, name: string, server: CallerServer): Promise<void> {
  const profiles = { ...(await readProfiles(path)), [name]: server };
  const shown = Object.entries(profiles).map(([each, { url, apiKey }]) => [each, { url, api_key: apiKey }]);
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const temporary = `${path}.${randomUUID()}`;
  try {
    const file = await open(temporary, "wx", FILE_MODE);
    try {
      await file.writeFile(`${JSON.stringify({ profiles: Object.fromEntries(shown) as object }, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function readPrivate(path: string): Promise<string | null> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new OperationRefusedError(`${path} cannot be read: ${error.message}`, { cause: error });
  });
  if (file === null) return null;
  try {
    const { mode } = await file.stat();
    // Windows has no such modes.
    if (process.platform !== "win32" && (mode & OF_OTHERS) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(3, "0");
      throw new OperationRefusedError(
        `${path} has API keys and is open to other users (mode ${shown}); allowed: mode 600. Run: chmod 600 ${path}`,
      );
    }
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function profilesIn(text: string): Profiles | null {
  const root = objectIn(() => JSON.parse(text) as unknown);
  const profiles = objectIn(() => root?.["profiles"]);
  if (profiles === null) return null;
  const found: [string, CallerServer][] = [];
  for (const [name, given] of Object.entries(profiles)) {
    const { url, api_key: apiKey } = objectIn(() => given) ?? {};
    if (typeof url !== "string" || typeof apiKey !== "string") return null;
    found.push([name, { url, apiKey }]);
  }
  return Object.fromEntries(found);
}

/** null for anything but an object; text that is no JSON is none. */
function objectIn(read: () => unknown): { readonly [name: string]: unknown } | null {
  try {
    const value = read();
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
