/**
 * The address policy as data: IANA's special-purpose registries as of 2025-10, and multicast. @see webhooks, section
 * 5.1
 */

/** IPv4 outside global unicast; AS112 and AMT are reachable, but have no receivers. */
export const BLOCKED_IPV4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // AMT
  "192.88.99.0/24", // 6to4 relays, deprecated
  "192.168.0.0/16", // private
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
] as const;

/** All that IPv6 has allocated as global unicast. Everything outside is refused without being named. */
export const GLOBAL_IPV6 = "2000::/3";

export const BLOCKED_IPV6 = [
  "2001::/23", // protocol assignments: Teredo, benchmarking, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4, which embeds an IPv4 address
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
] as const;

/**
 * Where clouds serve a machine its own credentials. They stay blocked inside an allowed network and under an allowed
 * name; only an allowed network of exactly this one address opens them. All but 168.63.129.16 (Azure, public by the
 * registry) lie in blocks above as well.
 */
export const METADATA = [
  "100.100.100.200",
  "168.63.129.16",
  "169.254.169.254",
  "169.254.170.2",
  "169.254.170.23",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd20:ce::254",
] as const;

/** NAT64: on an IPv6-only machine with DNS64 every IPv4 receiver resolves into this block. */
export const NAT64 = "64:ff9b::/96";

/** IPv6 forms whose last 32 bits are an IPv4 address: mapped, translated, compatible, NAT64. */
export const EMBEDDING = ["::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", NAT64] as const;

/**
 * The top-level names and domains of private networks. The connect check is the line of defence; these only spare a
 * look-up.
 */
export const PRIVATE_DOMAINS = [
  "localhost",
  "local",
  "internal",
  "localdomain",
  "lan",
  "home",
  "home.arpa",
  "corp",
  "intranet",
  "private",
  "svc",
] as const;
