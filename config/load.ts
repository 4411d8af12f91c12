import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, resolve } from "node:path";
import type Yaml from "yaml";
import { ADAPTER_PORTS } from "./adapters/definition-issues.js";
import { SETTINGS_DEFINITION } from "./settings.js";
import type { Settings, SettingsOverrides } from "./settings.js";
import { FILE_VARIABLE, GivenSettings, type RenamedSetting } from "./settings/given-settings.js";
import { keyLifetimeIssues } from "./settings/key-lifetime.js";
import { SettingsError, missingLine, refusedLine } from "./settings/issues.js";
import { type ResolvedSetting, Resolver } from "./settings/resolver.js";

export { SettingsError } from "./settings/issues.js";

/** The origin of what an embedding app gives. */
export const OVERRIDES = "overrides";

export interface SettingsSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What relative paths are relative to. */
  readonly cwd: string;
  /** Reads the file of `FERMATA_CONFIG`; throws when it cannot. */
  readonly readFile?: (path: string) => string;
  /** Settings of an embedding app or a test, in the shape of the file; they win over all others. */
  readonly overrides?: SettingsOverrides;
  /** Whether stderr is a terminal. */
  readonly isTerminal?: boolean;
  /** Gets each setting that was given by an older name; without it, Node's own deprecation warning has them. */
  readonly onRenamed?: (renamed: RenamedSetting) => void;
}

/**
 * The settings: defaults, then the file named by `FERMATA_CONFIG`, then the environment, then `overrides`; the later
 * wins, setting by setting.
 *
 * @throws {SettingsError} with a line for every issue in all of them
 */
export function loadSettings(sources: SettingsSources): Settings {
  return resolveSettings(sources).settings;
}

/** {@link loadSettings}, and where each setting comes from. @throws {SettingsError} as it does */
export function resolveSettings(sources: SettingsSources): {
  readonly settings: Settings;
  readonly resolved: readonly ResolvedSetting[];
} {
  const given = new GivenSettings(SETTINGS_DEFINITION);
  readConfigFile(sources, given);
  given.addEnvironment(sources.env);
  if (sources.overrides !== undefined) given.addTree(sources.overrides, OVERRIDES);
  const { cwd, isTerminal = process.stderr.isTTY, onRenamed = warnOfRenamed } = sources;
  for (const renamed of given.resolveRenamed()) onRenamed(renamed);
  const resolver = new Resolver(given, { cwd, isTerminal });
  const settings = resolver.resolve(SETTINGS_DEFINITION) as Settings;
  checkTogether(settings, given.issues);
  if (given.issues.length > 0) throw new SettingsError(given.issues);
  origins.set(settings, resolver.resolved);
  return { settings, resolved: resolver.resolved };
}

/** Where the settings that were loaded come from. */
const origins = new WeakMap<Settings, readonly ResolvedSetting[]>();

/** Where each of these settings comes from; null: an app made them of those that {@link loadSettings} returned. */
export function resolvedOf(settings: Settings): readonly ResolvedSetting[] | null {
  return origins.get(settings) ?? null;
}

function readConfigFile({ env, cwd, readFile = readText }: SettingsSources, given: GivenSettings): void {
  const name = env[FILE_VARIABLE];
  if (name === undefined || name === "") return;
  try {
    // Loaded when there is a file: the library is a good part of a start that has none.
    const { parseDocument } = createRequire(import.meta.url)("yaml") as typeof Yaml;
    const document = parseDocument(readFile(resolve(cwd, name)), { prettyErrors: true });
    const error = document.errors[0];
    if (error !== undefined) throw error;
    given.addTree(document.toJS() as unknown, basename(name));
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    given.issues.push(
      `${FILE_VARIABLE}: ${JSON.stringify(name)} cannot be read (${reason}); allowed: the path of a YAML or JSON file`,
    );
  }
}

function warnOfRenamed({ from, to, origin }: RenamedSetting): void {
  process.emitWarning(
    `${from} (${origin}) is the older name of ${to}`,
    "DeprecationWarning",
    "FERMATA_RENAMED_SETTING",
  );
}

function readText(path: string): string {
  return readFileSync(path, "utf8");
}

/** What no setting can see alone. */
const DEADLINES = ["jobs.deadlineMinutes", "jobs.queueDeadlineMinutes", "jobs.renderDeadlineMinutes"];

function checkTogether(settings: Settings, issues: string[]): void {
  const { http, metrics, admin, jobs, idempotency, secrets } = settings;
  for (const port of ADAPTER_PORTS) {
    const { use, options } = settings[port];
    // Those of the built-in adapters are in their group.
    if (use === null && !isRefused(`${port}.use`, issues))
      for (const [name, { origin }] of Object.entries(options))
        issues.push(refusedLine(`${port}.options.${name}`, origin, "…", `only together with ${port}.use`, true));
  }
  if (metrics.port !== null && metrics.port !== 0 && metrics.port === http.port) {
    issues.push(
      refusedLine("metrics.port", null, metrics.port, "another port than http.port, or null to share it", false),
    );
  }
  if (admin.port !== null && admin.port !== 0 && [http.port, metrics.port].includes(admin.port)) {
    issues.push(refusedLine("admin.port", null, admin.port, "another port than http.port and metrics.port", false));
  }
  if (secrets.key === null && secrets.previousKey !== null && !isRefused("secrets.key", issues)) {
    issues.push(missingLine("secrets.key", "the key in force, next to secrets.previousKey"));
  }
  if (isRefused("idempotency.ttlHours", issues) || DEADLINES.some((path) => isRefused(path, issues))) return;
  const { queueDeadlineMinutes, renderDeadlineMinutes } = jobs;
  const deadlines = {
    "jobs.queueDeadlineMinutes": queueDeadlineMinutes,
    "jobs.renderDeadlineMinutes": renderDeadlineMinutes,
  };
  issues.push(...keyLifetimeIssues(deadlines, idempotency.ttlHours));
}

function isRefused(path: string, issues: readonly string[]): boolean {
  return issues.some((line) => line.startsWith(`${path}:`) || line.startsWith(`${path} (`));
}
