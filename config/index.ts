/** The package's main entry: the core, and what opens a whole Fermata from settings. */
export * from "../core/index.js";
export type { AuthenticateRequest, SignedInCaller } from "../adapters/http/signed-in.js";
export type { App, AppStopOptions } from "./app.js";
export { SchemaError } from "./schema-error.js";
export { compose, type Overrides } from "./compose.js";
export { loadSettings, SettingsError, type SettingsSources } from "./load.js";
export type { Settings, SettingsOverrides } from "./settings.js";
export type { RequestHandler } from "../adapters/http/request-handler.js";
