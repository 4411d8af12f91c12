import type { ProviderHost, ProviderSetting } from "../../core/ports/music-provider.js";
import { withDefaults } from "../../core/providers/setting-defaults.js";
import { environmentWord } from "./definition.js";
import { refusedLine, unknownLine } from "./issues.js";

/** A value as it was given, with where it came from. */
export interface GivenSetting {
  readonly value: unknown;
  /** The file or environment variable, as issues name it. */
  readonly origin: string;
  /** True for a text of the environment, which may be a number or a boolean. */
  readonly isText: boolean;
}

export interface PluginSettings {
  /** The given values and the defaults of the others. */
  readonly values: ProviderHost["settings"];
  /** One line per issue; with any, `values` must not be used. */
  readonly issues: readonly string[];
}

type Declared = Readonly<Record<string, ProviderSetting>>;

/** Checks a plugin's own settings, `plugins.ID.…`, against those it declares. */
export function validatePluginSettings(
  id: string,
  declared: Declared,
  given: Readonly<Record<string, GivenSetting>>,
): PluginSettings {
  const issues: string[] = [];
  const known = new Map<string, GivenSetting>();
  for (const [name, setting] of Object.entries(given)) {
    const meant = declaredName(declared, name, setting);
    if (meant !== null) known.set(meant, setting);
    else
      issues.push(
        unknownLine(
          `plugins.${id}.${name}`,
          setting.origin,
          Object.keys(declared).map((other) => `plugins.${id}.${other}`),
        ),
      );
  }
  const values: Record<string, string | number | boolean | undefined> = {};
  for (const [name, declaration] of Object.entries(declared)) {
    const setting = known.get(name);
    if (setting === undefined && declaration.required !== true) continue;
    const value = setting === undefined ? undefined : converted(declaration, setting);
    if (value !== undefined && isAllowed(declaration, value)) values[name] = value;
    else
      issues.push(
        refusedLine(
          `plugins.${id}.${name}`,
          setting?.origin ?? null,
          setting?.value,
          allowedText(declaration),
          declaration.secret === true,
        ),
      );
  }
  return { values: withDefaults(declared, values), issues: issues };
}

/** Names of the environment have lost their capitals, so there they are compared without. */
function declaredName(declared: Declared, name: string, { isText }: GivenSetting): string | null {
  if (Object.hasOwn(declared, name)) return name;
  if (!isText) return null;
  return Object.keys(declared).find((other) => environmentWord(other) === environmentWord(name)) ?? null;
}

function converted({ type }: ProviderSetting, { value, isText }: GivenSetting): unknown {
  if (!isText || typeof value !== "string") return value;
  if (type === "integer" && /^-?\d+$/.test(value)) return Number(value);
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  return value;
}

function isAllowed(declaration: ProviderSetting, value: unknown): value is string | number | boolean {
  switch (declaration.type) {
    case "boolean":
      return typeof value === "boolean";
    case "integer": {
      const { minimum = -Infinity, maximum = Infinity } = declaration;
      return Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
    }
    case "string":
      if (typeof value !== "string" || (value === "" && declaration.canBeEmpty !== true)) return false;
      return declaration.allowed?.includes(value) ?? true;
  }
}

function allowedText(declaration: ProviderSetting): string {
  switch (declaration.type) {
    case "boolean":
      return "true or false";
    case "integer": {
      const { minimum, maximum } = declaration;
      const from = minimum === undefined ? "" : ` of at least ${minimum}`;
      const to = maximum === undefined ? "" : `${from === "" ? " of" : " and"} at most ${maximum}`;
      return `an integer${from}${to}`;
    }
    case "string":
      return (
        declaration.allowed?.join(", ") ?? (declaration.canBeEmpty === true ? "a text" : "a text that is not empty")
      );
  }
}
