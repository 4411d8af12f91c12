/** What is in front of the hosts, the hosts, and what is behind them. */
const PARTS = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s;

/**
 * The URLs of a URL with several hosts, in their order: `mysql://user@db1,db2:3307/fermata` is
 * `mysql://user@db1/fermata` and `mysql://user@db2:3307/fermata`. A URL with one host is itself.
 *
 * @throws {Error} a host is missing or there twice, or cannot be read; the message names no user and no password
 */
export function hostUrls(url: string): readonly string[] {
  const parts = PARTS.exec(url) as readonly [string, string, string, string] | null;
  // With an @ later on, this may be a part of a password that is not encoded.
  if (parts === null || parts[3].includes("@")) return [url];
  const [, before, list, after] = parts;
  const hosts = list.split(",");
  if (hosts.length === 1) return [url];
  const seen = new Set<string>();
  return hosts.map((host, index) => {
    const one = `${before}${host}${after}`;
    if (host === "") throw new Error(`Host ${index + 1} of ${hosts.length} is empty`);
    if (!URL.canParse(one) || /\s/.test(host))
      throw new Error(`Host ${index + 1} of ${hosts.length} cannot be read: "${host}"`);
    if (seen.has(host.toLowerCase())) throw new Error(`The host "${host}" is there twice`);
    seen.add(host.toLowerCase());
    return one;
  });
}
