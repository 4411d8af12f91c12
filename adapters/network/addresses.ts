import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { BLOCKED_IPV4, BLOCKED_IPV6, EMBEDDING, GLOBAL_IPV6, METADATA, NAT64 } from "./address-blocks.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address and how many of its bits, from the left, belong to the network. */
export type Network = readonly [Address, number];

/** Reads an address in the forms that sockets and name servers use; null for anything else, and for one with a zone. */
export function parseAddress(text: string): Address | null {
  // ipaddr.js alone would also take octal, hexadecimal and short forms of IPv4.
  return text.includes("%") || isIP(text) === 0 ? null : ipaddr.parse(text);
}

/** One spelling for each address; null where {@link parseAddress} has none. */
export function canonicalAddress(text: string): string | null {
  return parseAddress(text)?.toString() ?? null;
}

/** Reads `10.0.0.0/8`; an address alone is a network of its own. @throws {Error} it is neither */
export function parseNetwork(text: string): Network {
  const [base = "", length, ...others] = text.split("/");
  const address = parseAddress(base);
  const bits = address?.kind() === "ipv4" ? 32 : 128;
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (address === null || others.length > 0 || !(prefix <= bits))
    throw new Error(`${JSON.stringify(text)} is no network; write it as 10.0.0.0/8.`);
  return asIpv4([address, prefix]);
}

export function contains([base, prefix]: Network, address: Address): boolean {
  return base.kind() === address.kind() && address.match(base, prefix);
}

const ipv4Blocked = BLOCKED_IPV4.map(parseNetwork);
const ipv6Blocked = BLOCKED_IPV6.map(parseNetwork);
const ipv6Global = parseNetwork(GLOBAL_IPV6);
const metadata = METADATA.map(parseNetwork);
// Not by way of parseNetwork, which makes IPv4 of the first.
const embedding = EMBEDDING.map((block): Network => ipaddr.parseCIDR(block));
const nat64 = parseNetwork(NAT64);

/**
 * True for global unicast, the only addresses that need no exception. An IPv6 address that embeds an IPv4 address is
 * none.
 */
export function isGlobalUnicast(address: Address): boolean {
  if (isMetadata(address)) return false;
  if (address.kind() === "ipv4") return !ipv4Blocked.some((block) => contains(block, address));
  return contains(ipv6Global, address) && !ipv6Blocked.some((block) => contains(block, address));
}

export function isMetadata(address: Address): boolean {
  return metadata.some((one) => contains(one, address));
}

export function isNat64(address: Address): boolean {
  return contains(nat64, address);
}

/** The IPv4 address in the last 32 bits, for the forms that embed one; null for others, `::` and `::1` among them. */
export function embeddedIpv4(address: Address): ipaddr.IPv4 | null {
  if (address.kind() === "ipv4" || !embedding.some((block) => contains(block, address))) return null;
  const bytes = address.toByteArray();
  if (bytes.slice(0, 15).every((byte) => byte === 0)) return null;
  return new ipaddr.IPv4(bytes.slice(12));
}

/** True when the network has no address outside one of the embedding blocks. */
export function isEmbedding(network: Network): boolean {
  return network[1] >= 96 && embeddedIpv4(network[0]) !== null;
}

/** A network of mapped addresses is one of IPv4. */
function asIpv4([address, prefix]: Network): Network {
  if (address.kind() === "ipv4" || prefix < 96 || !(address as ipaddr.IPv6).isIPv4MappedAddress())
    return [address, prefix];
  return [(address as ipaddr.IPv6).toIPv4Address(), prefix - 96];
}
