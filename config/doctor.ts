import { statfs } from "node:fs/promises";
import type { DoctorCheck } from "../adapters/cli/host.js";
import type { Logger } from "../core/ports/logger.js";
import { prepareDataDir } from "./adapters.js";
import { compose } from "./compose.js";
import { loadPlugins } from "./plugins.js";
import type { Settings } from "./settings.js";
import { SettingsError } from "./settings/mistakes.js";

const FREE_BYTES_MIN = 1024 ** 3;
const NODE_MIN = [20, 19] as const;

/** Looks at everything a start needs, and says of each how it is and how to mend it. */
export async function examine(settings: Settings, logger: Logger): Promise<readonly DoctorCheck[]> {
  const checks: readonly (readonly [string, () => Promise<string>])[] = [
    ["node", checkNode],
    ["data directory", () => checkDataDir(settings.dataDir)],
    ["disk space", () => checkSpace(settings.dataDir)],
    ["plugins", () => checkPlugins(settings)],
    ["storage and queue", () => checkParts(settings, logger)],
    ["public address", () => checkPublicUrl(settings)],
  ];
  const found: DoctorCheck[] = [];
  for (const [name, check] of checks) {
    try {
      found.push({ name, ok: true, message: await check() });
    } catch (error) {
      found.push({ name, ok: false, message: messageOf(error) });
    }
  }
  return found;
}

async function checkNode(): Promise<string> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isOld = major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]);
  if (isOld) throw new Error(`Node ${process.versions.node} is too old; install ${NODE_MIN.join(".")} or later`);
  return `Node ${process.versions.node}`;
}

async function checkDataDir(dataDir: string): Promise<string> {
  await prepareDataDir(dataDir);
  return `${dataDir} can be written`;
}

async function checkSpace(dataDir: string): Promise<string> {
  const { bavail, bsize } = await statfs(dataDir);
  const gib = ((bavail * bsize) / 1024 ** 3).toFixed(1);
  if (bavail * bsize < FREE_BYTES_MIN) throw new Error(`only ${gib} GiB are free in ${dataDir}; make room, or set dataDir or audio.url`);
  return `${gib} GiB free`;
}

async function checkPlugins(settings: Settings): Promise<string> {
  const plugins = await loadPlugins(settings);
  const enabled = plugins.filter((plugin) => plugin.enabled).map((plugin) => plugin.definition.id);
  if (enabled.length === 0) throw new Error("no plugin is enabled, so no model is available; set plugins.ID.enabled");
  return `enabled: ${enabled.join(", ")}`;
}

async function checkParts(settings: Settings, logger: Logger): Promise<string> {
  const app = await compose(settings, { logger }, { migrate: false });
  try {
    const broken = await app.readiness();
    if (broken.length > 0) throw new Error(`not fine: ${broken.join(", ")}`);
    return `reachable, schema up to date`;
  } finally {
    await app.stop();
  }
}

async function checkPublicUrl({ http }: Settings): Promise<string> {
  if (http.publicUrl !== null) return http.publicUrl;
  const isLocal = http.host === "127.0.0.1" || http.host === "::1" || http.host === "localhost";
  if (!isLocal) throw new Error(`http.publicUrl is not set, so links begin with ${http.host}; set it to what callers use`);
  return "links begin with the listen address; set http.publicUrl behind a proxy";
}

function messageOf(error: unknown): string {
  if (error instanceof SettingsError) return error.lines.join("; ");
  return error instanceof Error ? error.message : String(error);
}
