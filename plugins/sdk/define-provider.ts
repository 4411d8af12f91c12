import type {
  CallKind,
  MusicProvider,
  ProviderCapabilities,
  ProviderDefinition,
  ProviderModel,
  SettingDeclarations,
  SettingValues,
} from "../../core/ports/music-provider.js";
import { type ProviderHost, toProviderHost } from "./host.js";

/** The port's {@link ProviderDefinition}, typed by its own settings. */
export interface TypedDefinition<Declared extends SettingDeclarations> extends Omit<
  ProviderDefinition,
  "settings" | "concurrency" | "longestCallMs" | "hosts" | "offersModel" | "capabilities" | "create"
> {
  readonly settings: Declared;
  /** How many submissions may run at once in one process. */
  readonly concurrency: number | ((settings: SettingValues<Declared>) => number);
  /** As {@link ProviderDefinition.longestCallMs}. */
  readonly longestCallMs?: number | ((settings: SettingValues<Declared>, call: CallKind) => number);
  /** As {@link ProviderDefinition.hosts}. */
  readonly hosts?: readonly string[] | ((settings: SettingValues<Declared>) => readonly string[]);
  /** As {@link ProviderDefinition.offersModel}. */
  offersModel?(model: ProviderModel, settings: SettingValues<Declared>): boolean;
  readonly capabilities: ProviderCapabilities | ((settings: SettingValues<Declared>) => ProviderCapabilities);
  create(host: ProviderHost<Declared>): MusicProvider;
}

/**
 * The definition of a provider; a plugin's default export is what this returns. The types of the settings' values
 * follow from their declarations: `{ type: "integer", default: 5 }` is a `number`, `{ type: "string" }` a
 * `string | undefined`, `allowed` gives a union.
 */
export function defineProvider<const Declared extends SettingDeclarations>(
  definition: TypedDefinition<Declared>,
): ProviderDefinition {
  return {
    // The host checks values against the declarations before it calls any of the functions.
    ...(definition as unknown as ProviderDefinition),
    create: (host) => definition.create(toProviderHost<Declared>(host)),
  };
}
