import {
  WebhookCredentialsForbiddenError,
  WebhookHostBlockedError,
  WebhookHttpsRequiredError,
  WebhookUrlInvalidError,
} from "../errors.js";
import type { AddressGuard } from "../ports/address-guard.js";

const URL_MAX_LENGTH = 2_048;
const NAME_MAX_LENGTH = 253;
const LABEL_MAX_LENGTH = 63;

export interface UrlRules {
  readonly guard: Pick<AddressGuard, "admitsHost">;
  /** Whether plain http is taken too. */
  readonly allowHttp: boolean;
}

/**
 * The URL in its parser's normalised form (WHATWG URL), which is what is stored and sent. The rules are checked on that
 * form, never on the text, and in this order.
 *
 * @throws {WebhookUrlInvalidError} {WebhookHttpsRequiredError} {WebhookCredentialsForbiddenError}
 *   {WebhookHostBlockedError}
 * @see API v1, section 4; decisions, "Webhooks"; webhooks, section 5.3
 */
export function normaliseWebhookUrl(text: string, { guard, allowHttp }: UrlRules): URL {
  const url = parse(text);
  if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:")) throw new WebhookHttpsRequiredError();
  if (url.username !== "" || url.password !== "") throw new WebhookCredentialsForbiddenError();
  if (!guard.admitsHost(url.hostname)) throw new WebhookHostBlockedError();
  return url;
}

/**
 * What requests to a URL have in common: two URLs of one key are the same request. A fragment is never sent, and a name
 * with a final dot is the same name.
 */
export function requestKeyOf(href: string): string {
  const { protocol, pathname, search } = new URL(href);
  return `${protocol}//${hostKeyOf(href)}${pathname}${search}`;
}

/** The host and port that a URL leads to, as `host:port`. */
export function hostKeyOf(href: string): string {
  const { protocol, hostname, port } = new URL(href);
  return `${hostname.replace(/\.$/, "")}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}

function parse(text: string): URL {
  if ([...text].length > URL_MAX_LENGTH || !URL.canParse(text)) throw new WebhookUrlInvalidError();
  const url = new URL(text);
  if (url.href.length > URL_MAX_LENGTH || !hasPossibleHost(url)) throw new WebhookUrlInvalidError();
  return url;
}

/** The parser lets names pass that no name server can know. */
function hasPossibleHost({ hostname }: URL): boolean {
  // Only a scheme that is refused anyway comes without a host.
  if (hostname === "" || hostname.startsWith("[")) return true;
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return (
    name.length <= NAME_MAX_LENGTH &&
    name.split(".").every((label) => label.length >= 1 && label.length <= LABEL_MAX_LENGTH)
  );
}
