import type { ProviderHost as PortHost, SettingDeclarations, SettingValues } from "../../core/ports/music-provider.js";
import { ProviderApi, type ProviderApiOptions } from "./api.js";
import { httpUrl } from "./settings.js";

/** An option is required where the settings do not always have a value of its name and type. */
type Needed<Declared extends SettingDeclarations, Name extends "baseUrl" | "timeoutMs"> =
  SettingValues<Declared>[Name] extends NonNullable<ProviderApiOptions[Name]>
    ? { readonly [Key in Name]?: ProviderApiOptions[Key] }
    : { readonly [Key in Name]: ProviderApiOptions[Key] };

/** Options of {@link ProviderHost.api} beyond the settings. */
export type HostApiOptions<Declared extends SettingDeclarations = SettingDeclarations> = Pick<
  ProviderApiOptions,
  "headers" | "maxBytes" | "classify"
> &
  Needed<Declared, "baseUrl"> &
  Needed<Declared, "timeoutMs">;

/** The host as a plugin sees it, typed by the settings that the plugin declares. */
export interface ProviderHost<Declared extends SettingDeclarations = SettingDeclarations> extends Omit<
  PortHost,
  "settings"
> {
  readonly settings: SettingValues<Declared>;
  /**
   * A client of the provider's API by the settings `baseUrl`, `timeoutMs` and `apiKey`; the key is sent as
   * `Authorization: Bearer`. `headers` replaces that header, whatever else it names; a `baseUrl` given here gets no key
   * unless `headers` has it.
   *
   * @throws {Error} the base URL is not an http or https URL: it names the setting, and the plugin does not start
   */
  api(
    ...options: Record<string, never> extends HostApiOptions<Declared>
      ? [options?: HostApiOptions<Declared>]
      : [options: HostApiOptions<Declared>]
  ): ProviderApi;
}

/** The header of a key that is sent as a bearer token. */
export function bearer(key: string): { readonly authorization: string } {
  return { authorization: `Bearer ${key}` };
}

/** @param host with the settings that were checked against `Declared` */
export function toProviderHost<Declared extends SettingDeclarations>(host: PortHost): ProviderHost<Declared> {
  const { settings, fetch } = host;
  return {
    ...host,
    settings: settings as SettingValues<Declared>,
    api: ({ headers, baseUrl, timeoutMs = Number(settings["timeoutMs"]), ...options }: Partial<HostApiOptions> = {}) =>
      new ProviderApi({
        ...options,
        fetch,
        timeoutMs,
        baseUrl: httpUrl("baseUrl", baseUrl ?? String(settings["baseUrl"])),
        headers: headers ?? (baseUrl === undefined ? keyHeader(settings["apiKey"]) : {}),
      }),
  };
}

function keyHeader(key: PortHost["settings"][string]): { readonly [name: string]: string } {
  return typeof key === "string" ? bearer(key) : {};
}
