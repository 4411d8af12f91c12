/**
 * The SDK for provider plugins, `fermata-music/provider` in a package of one's own: the plugin port, typed definitions,
 * a client of HTTP APIs, readers of JSON. A plugin imports this and nothing else of Fermata.
 */
export * from "../../core/ports/music-provider.js";
export { ProviderApi, type ProviderApiOptions } from "./api.js";
export type { ApiCall, ApiResponse } from "./api-call.js";
export { failureOf, providerFailure, retryAfterMs } from "./api-failures.js";
export { defineProvider, type TypedDefinition } from "./define-provider.js";
export { foreignHandle, type HandleCodec, handleCodec, isLostReply } from "./handles.js";
export { bearer, type HostApiOptions, type ProviderHost } from "./host.js";
export { asObject, isLink, isObject, type JsonObject, parseJson } from "./json.js";
export { lyricsOf, timedWord } from "./lyrics.js";
export { inputsOf, inputsWithTrack } from "./model-inputs.js";
export { type HostedModels, inputTemplateIssue } from "./model-template-issues.js";
export {
  type InputTemplate,
  inputTemplateOf,
  type ModelInputs,
  type ReferenceTemplate,
  type StrengthInput,
  templatesOf,
} from "./model-templates.js";
export { apiKey, baseUrl, defineSettings, httpUrl, jsonObject, pollMs, timeoutMs } from "./settings.js";
export { dataUriOf, sourceFile } from "./sources.js";
export { type FormParts, streamedForm, type StreamedForm } from "./streamed-form.js";
export { NO_TAGS, stemLabel } from "./tracks.js";
