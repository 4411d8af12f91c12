/**
 * One setting that a plugin or an adapter declares. `secret` values are masked wherever settings are shown. A text that
 * is empty is an error, unless `canBeEmpty`.
 */
export type DeclaredSetting = {
  readonly description: string;
  readonly required?: boolean;
  readonly secret?: boolean;
} & (
  | {
      readonly type: "string";
      readonly default?: string;
      readonly allowed?: readonly string[];
      readonly canBeEmpty?: boolean;
    }
  | { readonly type: "integer"; readonly default?: number; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: "boolean"; readonly default?: boolean }
);

/** The settings that a plugin or an adapter declares, by name. */
export interface SettingDeclarations {
  readonly [name: string]: DeclaredSetting;
}

type ValueOf<Setting> = Setting extends { readonly type: "integer" }
  ? number
  : Setting extends { readonly type: "boolean" }
    ? boolean
    : Setting extends { readonly allowed: readonly (infer Allowed extends string)[] }
      ? Allowed
      : string;

type IsAlwaysThere<Setting> = Setting extends { readonly required: true }
  ? true
  : Setting extends { readonly default: string | number | boolean }
    ? true
    : false;

/**
 * The values of declared settings: required ones and those with a default are always there, the others may be
 * undefined. The host has checked them against the declarations.
 */
export type SettingValues<Declared extends SettingDeclarations> = {
  readonly [Name in keyof Declared]: IsAlwaysThere<Declared[Name]> extends true
    ? ValueOf<Declared[Name]>
    : ValueOf<Declared[Name]> | undefined;
};
