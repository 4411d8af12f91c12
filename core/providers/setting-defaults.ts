import type { ProviderHost, ProviderSetting } from "../ports/music-provider.js";

/** The given values of declared settings, and the defaults of the others: what a plugin always gets. */
export function withDefaults(
  declared: { readonly [name: string]: ProviderSetting },
  given: ProviderHost["settings"],
): ProviderHost["settings"] {
  const values = Object.entries(declared).map(([name, setting]) => [name, given[name] ?? setting.default] as const);
  return Object.freeze(Object.fromEntries(values.filter(([, value]) => value !== undefined)));
}
