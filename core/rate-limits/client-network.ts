const IPV4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;
const UNKNOWN = "unknown";

/**
 * The subject of limits that an address belongs to: an IPv4 address stands for itself, however it is written; an IPv6
 * address for its /64, which is what one customer gets and can change addresses in as it likes. Some proxies forward a
 * port with the address; it does not matter. What is no address is `unknown`, all of it together.
 */
export function clientNetwork(address: string | undefined): string {
  if (address === undefined) return UNKNOWN;
  const [, host = address] = /^\[(.*)\](?::\d+)?$/.exec(address) ?? /^([\d.]+):\d+$/.exec(address) ?? [];
  const bytes = ipv4Bytes(host);
  if (bytes !== null) return bytes.join(".");
  // A zone distinguishes interfaces of this machine, not clients.
  const groups = ipv6Groups(host.replace(/%.*$/, ""));
  if (groups === null) return UNKNOWN;
  if (isMappedIpv4(groups))
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join(".");
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

function ipv4Bytes(text: string): number[] | null {
  const bytes = IPV4.exec(text)?.slice(1).map(Number);
  return bytes !== undefined && bytes.every((byte) => byte <= 255) ? bytes : null;
}

/** The eight groups of an IPv6 address, or null. */
function ipv6Groups(text: string): number[] | null {
  const halves = text.split("::").map((half, index, all) => groupsOf(half, index === all.length - 1));
  const [left, right] = halves;
  if (left === null || left === undefined || right === null || halves.length > 2) return null;
  if (right === undefined) return left.length === 8 ? left : null;
  const missing = 8 - left.length - right.length;
  return missing >= 1 ? [...left, ...new Array<number>(missing).fill(0), ...right] : null;
}

/** Groups between colons; at the end of an address the last may be an IPv4 address. */
function groupsOf(text: string, isEnd: boolean): number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  const words = text.split(":");
  for (const [index, word] of words.entries()) {
    const bytes = isEnd && index === words.length - 1 ? ipv4Bytes(word) : null;
    if (bytes !== null) groups.push(...[0, 2].map((at) => (bytes[at] as number) * 256 + (bytes[at + 1] as number)));
    else if (/^[\da-f]{1,4}$/i.test(word)) groups.push(Number.parseInt(word, 16));
    else return null;
  }
  return groups;
}

function isMappedIpv4(groups: readonly number[]): boolean {
  return groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
}
