import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { repositoryPath } from "./repository.js";

/** The files of `config/` that operators copy. */
export function readExample(...path: readonly string[]): string {
  return readFileSync(repositoryPath("config", ...path), "utf8");
}

export interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly disable?: boolean };
  readonly stop_grace_period?: string;
  readonly tmpfs?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<Record<string, { readonly ipam: { readonly config: readonly ComposeSubnet[] } }>>;
}

export interface ComposeSubnet {
  readonly subnet: string;
  readonly gateway: string;
}

export function readCompose(): ComposeFile {
  return parse(readExample("compose.yaml"), { merge: true }) as ComposeFile;
}

/**
 * A text of the compose file as its container gets it, when the environment gives `sample` for every required variable.
 */
export function interpolated(text: string, sample: string): string {
  return text.replace(/\$\$|\$\{\w+(?::([-?])([^}]*))?\}/g, (found, kind?: string, fallback?: string) => {
    if (found === "$$") return "$";
    return kind === "-" ? (fallback ?? "") : sample;
  });
}

export interface DockerInstruction {
  readonly name: string;
  readonly rest: string;
}

/** In order, those of all stages; continued lines are joined. */
export function readDockerfile(): DockerInstruction[] {
  const lines = readExample("Dockerfile")
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "");
  return [...lines.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, name, rest]) => ({
    name: name as string,
    rest: rest as string,
  }));
}

/** `Key=value` lines of a unit, in order; a key may come several times. */
export function readUnit(name: string): (readonly [key: string, value: string])[] {
  return [...readExample("systemd", name).matchAll(/^([A-Za-z]+)=(.*)$/gm)].map(
    ([, key, value]) => [key as string, value as string] as const,
  );
}
