/** What a provider's tests need: its API as a scripted server, small files, a host. */
export * from "./responses.js";
export { FakeApi, type HttpResponse, type Route } from "./fake-api.js";
export { type HostOptions, type HostUnderTest, providerHost, type ProviderLogLine, settingsOf } from "./host.js";
export type { FakeRequest, FormFile } from "./request.js";
export * from "./requests.js";
export * from "./sounds.js";
