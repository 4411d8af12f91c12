import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Settings } from "./settings.js";
import { SettingsError } from "./settings/issues.js";
import { packageRoot } from "./version.js";

const DECODERS = [
  ...["@wasm-audio-decoders/flac", "@wasm-audio-decoders/ogg-vorbis", "codec-parser"],
  ...["mpg123-decoder", "ogg-opus-decoder"],
];

interface Need {
  readonly packages: readonly string[];
  /** The setting as it is, such as `audio.url: s3:`; null where it does not need the packages. */
  choice(settings: Settings): string | null;
  /** What can be set instead. */
  readonly instead: string;
}

const byScheme =
  (setting: "storage" | "queue" | "audio", schemes: readonly string[]) =>
  (settings: Settings): string | null => {
    const { use, url } = settings[setting];
    const scheme = use === null ? schemes.find((candidate) => url.startsWith(candidate)) : undefined;
    return scheme === undefined ? null : `${setting}.url: ${scheme}`;
  };

/** The `optionalDependencies` of the package, by what needs them. */
const NEEDS = {
  sqlite: {
    packages: ["better-sqlite3"],
    choice: byScheme("storage", ["sqlite:"]),
    instead: "set another storage.url",
  },
  mysql: { packages: ["mysql2"], choice: byScheme("storage", ["mysql:"]), instead: "set another storage.url" },
  queue: { packages: ["amqplib"], choice: byScheme("queue", ["amqp:", "amqps:"]), instead: "set another queue.url" },
  audio: {
    packages: ["@aws-sdk/client-s3", "@aws-sdk/s3-request-presigner"],
    choice: byScheme("audio", ["s3:"]),
    instead: "set another audio.url",
  },
  analyser: {
    packages: [...DECODERS, "wasm-media-encoders"],
    choice: ({ audio }) => (audio.analyser === "builtin" ? "audio.analyser: builtin" : null),
    instead: "set audio.analyser to none",
  },
  metrics: {
    packages: ["prom-client"],
    choice: ({ metrics }) => (metrics.enabled ? "metrics.enabled: true" : null),
    instead: "set metrics.enabled to false",
  },
  tracing: {
    packages: [
      "@opentelemetry/api",
      ...["@opentelemetry/exporter-trace-otlp-http", "@opentelemetry/resources", "@opentelemetry/sdk-trace"],
    ],
    choice: ({ tracing }) => (tracing.endpoint === null ? null : "tracing.endpoint"),
    instead: "set tracing.endpoint to null",
  },
  globalTracing: {
    packages: ["@opentelemetry/api"],
    choice: ({ tracing }) => (tracing.useGlobal ? "tracing.useGlobal: true" : null),
    instead: "set tracing.useGlobal to false",
  },
  synth: {
    packages: [...DECODERS, "libflacjs", "wasm-media-encoders"],
    choice: ({ plugins }) => {
      const id = Object.keys(plugins).find(
        (name) => plugins[name]?.enabled && (plugins[name]?.use ?? name) === "synth",
      );
      return id === undefined ? null : `plugins.${id}.enabled: true`;
    },
    instead: "set it to false",
  },
} as const satisfies Record<string, Need>;

/** What may need packages that an installation lacks. */
export type PackageUser = keyof typeof NEEDS;

/** All of them. */
export const PACKAGE_USERS = Object.keys(NEEDS) as readonly PackageUser[];

/** Names of packages. */
export function packagesOf(user: PackageUser): readonly string[] {
  return NEEDS[user].packages;
}

/** What the settings need and is not installed. */
interface Missing {
  /** The setting as it is, such as `audio.url: s3:`. */
  readonly chosen: string;
  /** The command that installs it, and the setting that needs none of it. */
  readonly fix: string;
}

/** Where packages are missing, as after `npm install --omit=optional`. */
export function missingPackages(settings: Settings, users: readonly PackageUser[]): readonly Missing[] {
  return users.flatMap((user) => {
    const { packages, choice, instead }: Need = NEEDS[user];
    const chosen = choice(settings);
    const missing = chosen === null ? [] : packages.filter((name) => !isInstalled(name));
    if (chosen === null || missing.length === 0) return [];
    const install = missing.map((name) => `${name}@${versionOf(name)}`).join(" ");
    return [{ chosen, fix: `npm install ${install}, or ${instead}` }];
  });
}

/**
 * Refuses settings that need packages which are not installed.
 *
 * @throws {SettingsError} a line for each of them, with the command that installs what it needs
 */
export function requirePackages(settings: Settings, users: readonly PackageUser[]): void {
  const missing = missingPackages(settings, users);
  const lines = missing.map(({ chosen, fix }) => `${chosen} needs packages that are not installed; ${fix}`);
  if (lines.length > 0) throw new SettingsError(lines);
}

/** Asked of Node's resolution, which Yarn's Plug'n'Play replaces: its packages are in no folder node_modules. */
function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch (error) {
    // Another code, such as ERR_PACKAGE_PATH_NOT_EXPORTED, comes from a package that is there.
    return (error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND";
  }
}

/** The version that this Fermata is tested with. */
function versionOf(name: string): string {
  const { optionalDependencies } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  return optionalDependencies[name] ?? "latest";
}
