/** What is in front of the hosts, the hosts, and what is behind them. */
const PARTS = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s;

/**
 * The URLs of a URL with several hosts, in their order: `mysql://user@db1,db2:3307/fermata` is
 * `mysql://user@db1/fermata` and `mysql://user@db2:3307/fermata`. A URL with one host is itself.
 *
 * @throws {Error} a host is missing or there twice, or cannot be read; the message names no user and no password
 */
export function hostUrls(url: string): readonly string[] {
  const [, before, list, after] = PARTS.exec(url) ?? [];
  // With an @ later on, this may be a part of a password that is not encoded.
  if (before === undefined || list === undefined || after?.includes("@") === true) return [url];
  const hosts = list.split(",");
  if (hosts.length === 1) return [url];
  const seen = new Set<string>();
  return hosts.map((host, index) => {
    const one = `${before}${host}${after}`;
    if (host === "") throw new Error(`Host ${index + 1} of ${hosts.length} is empty`);
    if (!URL.canParse(one) || new URL(one).hostname === "" || /\s/.test(host))
      throw new Error(`Host ${index + 1} of ${hosts.length} cannot be read: "${host}"`);
    if (seen.has(host.toLowerCase())) throw new Error(`The host "${host}" is there twice`);
    seen.add(host.toLowerCase());
    return one;
  });
}
