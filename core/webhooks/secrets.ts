import type { SecretBox } from "../ports/secret-box.js";
import type { KeyStates } from "../secrets/key-states.js";
import type { RetiredSecret, WebhookEndpoint } from "../ports/webhook-records.js";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;
const SHOWN_LENGTH = 12;
/** In addition to the current one. */
const RETIRED_MAX = 2;

/** Keeps the key that a secret is sealed with from being retired while the secret is written. */
export type SealKeys = Pick<KeyStates, "requireInForce">;

/** A new signing secret: `whsec_` and the base64 of 32 random bytes. @see decisions, "Webhooks" */
export function makeSecret(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + btoa(String.fromCharCode(...randomBytes(SECRET_BYTES)));
}

/** The part of a secret that may be shown. */
export function shownPrefixOf(secret: string): string {
  return secret.slice(0, SHOWN_LENGTH);
}

/** What the endpoint's deliveries are signed with as of now, the current secret first. */
export function signingSecrets(endpoint: WebhookEndpoint, box: SecretBox, now: number): Promise<string[]> {
  const sealed = [
    endpoint.sealedSecret,
    ...stillSigning(endpoint.retiredSecrets, now).map((retired) => retired.sealed),
  ];
  return Promise.all(sealed.map((text) => box.open(text, endpoint.id)));
}

/** The endpoint with a new secret; the one before signs alongside it for `overlapMs`. */
export function withNewSecret(
  endpoint: WebhookEndpoint,
  secret: string,
  box: SecretBox,
  overlapMs: number,
  now: number,
): WebhookEndpoint {
  const retired = [{ sealed: endpoint.sealedSecret, signsUntil: now + overlapMs }, ...endpoint.retiredSecrets];
  return {
    ...endpoint,
    secretPrefix: shownPrefixOf(secret),
    sealedSecret: box.seal(secret, endpoint.id),
    // Without an overlap the secret is out: older ones must not go on signing either.
    retiredSecrets: overlapMs === 0 ? [] : stillSigning(retired, now).slice(0, RETIRED_MAX),
    updatedAt: now,
  };
}

function stillSigning(retired: readonly RetiredSecret[], now: number): RetiredSecret[] {
  return retired.filter(({ signsUntil }) => now < signsUntil);
}
