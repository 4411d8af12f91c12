import type { DeclaredSetting, SettingDeclarations } from "../../core/ports/declared-settings.js";
import { withDefaults } from "../../core/providers/setting-defaults.js";
import { environmentWord, type GivenSetting } from "./definition.js";
import { notText, refusedLine, unknownLine } from "./issues.js";

export interface OwnSettings {
  /** The given values and the defaults of the others. */
  readonly values: Readonly<Record<string, string | number | boolean | undefined>>;
  /** What was given, by the names that are declared. */
  readonly given: ReadonlyMap<string, GivenSetting>;
  /** One line per issue; with any, `values` must not be used. */
  readonly issues: readonly string[];
}

/**
 * Checks the own settings of a plugin or an adapter against those it declares.
 *
 * @param path where they are: `plugins.ID`, `queue.options`
 */
export function validateOwnSettings(
  path: string,
  declared: SettingDeclarations,
  given: Readonly<Record<string, GivenSetting>>,
): OwnSettings {
  const issues: string[] = [];
  const known = new Map<string, GivenSetting>();
  for (const [name, setting] of Object.entries(given)) {
    const meant = declaredName(declared, name, setting);
    if (meant !== null) known.set(meant, setting);
    else
      issues.push(
        unknownLine(
          `${path}.${name}`,
          setting.origin,
          Object.keys(declared).map((other) => `${path}.${other}`),
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
          `${path}.${name}`,
          setting?.origin ?? null,
          setting?.value,
          allowedFor(declaration, setting),
          declaration.secret === true,
        ),
      );
  }
  return { values: withDefaults(declared, values), given: known, issues };
}

/** Names of the environment have lost their capitals, so there they are compared without. */
function declaredName(declared: SettingDeclarations, name: string, { isText }: GivenSetting): string | null {
  if (Object.hasOwn(declared, name)) return name;
  if (!isText) return null;
  return Object.keys(declared).find((other) => environmentWord(other) === environmentWord(name)) ?? null;
}

function converted({ type }: DeclaredSetting, { value, isText }: GivenSetting): unknown {
  if (!isText || typeof value !== "string") return value;
  if (type === "integer" && /^-?\d+$/.test(value)) return Number(value);
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  return value;
}

function isAllowed(declaration: DeclaredSetting, value: unknown): value is string | number | boolean {
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

function allowedFor(declaration: DeclaredSetting, setting: GivenSetting | undefined): string {
  const because = declaration.type === "string" && setting !== undefined ? notText(setting) : null;
  return because === null ? allowedText(declaration) : `${allowedText(declaration)}. ${because}`;
}

function allowedText(declaration: DeclaredSetting): string {
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
