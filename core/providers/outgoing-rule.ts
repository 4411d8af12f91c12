/** Where the calls of one plugin may go: what the operator wrote, and https at the hosts that its definition names. */
export interface OutgoingOptions {
  readonly providerId: string;
  /** The plugin's own settings, defaults included: every http or https URL among them counts. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Of the definition: `api.example.com`, `*.cdn.example.com`; null: it names none, and any host counts as named. */
  readonly hosts: readonly string[] | null;
  /**
   * `plugins.<id>.allowHosts`: the same, and whole origins (`http://10.0.0.5:8000`), which count as URLs of settings
   * do.
   */
  readonly allowHosts: readonly string[];
}

const HOST = /^(\*\.)?(?!-)[a-z0-9-]{1,63}(\.(?!-)[a-z0-9-]{1,63})+$/;

/** True for a host as a definition names it: lower case, at least two labels, `*.` for all names below one. */
export function isHostPattern(text: string): boolean {
  return text.length <= 253 && HOST.test(text);
}

/** True for an entry of `plugins.<id>.allowHosts`: a host pattern, or an http or https origin without a path. */
export function isAllowedHost(text: string): boolean {
  return isHostPattern(text) || originOf(text) === text.toLowerCase();
}

/**
 * The rule of where a plugin's calls and uploads may go. An origin that the operator wrote may be plain http and
 * private, as may every URL of the same origin that a response names; anything else is https, at a host that is listed.
 * Whether its address is public is checked when the connection is opened.
 */
export class OutgoingRule {
  readonly providerId: string;
  private readonly origins: ReadonlySet<string>;
  private readonly hosts: readonly string[] | null;

  constructor({ providerId, settings, hosts, allowHosts }: OutgoingOptions) {
    const given = [...Object.values(settings).flatMap(urlsIn), ...allowHosts.flatMap(urlsIn)];
    this.providerId = providerId;
    this.origins = new Set(given.map(({ origin }) => origin));
    this.hosts = hosts === null ? null : [...hosts, ...allowHosts, ...given.map(({ hostname }) => hostname)];
  }

  /** True for a URL of an origin that the operator wrote. */
  isConfigured({ origin }: URL): boolean {
    return this.origins.has(origin);
  }

  /** Why nothing may be sent to this URL, for operators and without its path; null when it may. */
  refusal(url: URL): string | null {
    if (this.isConfigured(url)) return null;
    const place = `The plugin ${this.providerId} may not call ${url.origin}`;
    if (url.protocol !== "https:")
      return `${place}: only https, unless plugins.${this.providerId}.allowHosts names the origin.`;
    const host = url.hostname.replace(/\.$/, "");
    if (this.hosts === null || this.hosts.some((pattern) => matches(pattern, host))) return null;
    return `${place}: it is neither among the plugin's hosts nor in plugins.${this.providerId}.allowHosts.`;
  }
}

function matches(pattern: string, host: string): boolean {
  return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : host === pattern;
}

/** The http and https URLs of a setting, which may hold several. */
function urlsIn(value: unknown): URL[] {
  if (typeof value !== "string") return [];
  return value
    .split(/[\s,]+/)
    .flatMap((text) => (/^https?:\/\//i.test(text) && URL.canParse(text) ? [new URL(text)] : []));
}

function originOf(text: string): string | null {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).origin : null;
}
