import type { ApiKey } from "../ports/account.js";

/** An API key as operators and embedding apps see it: without that by which its token is recognised. */
export type ShownKey = Omit<ApiKey, "tokenHash">;

/** Leaves out of a key what {@link ShownKey} has not. */
export function shownKey({ tokenHash: _tokenHash, ...shown }: ApiKey): ShownKey {
  return shown;
}
