import { BlockList, isIP } from "node:net";
import { type CheckResult, ok, warning } from "../core/ports/self-check.js";
import type { Settings } from "./settings.js";

/** First and last address of each network that neighbours share (RFC 1918, 3927, 4193, 4291, 6598). */
const PRIVATE_NETWORKS: readonly (readonly [first: string, last: string])[] = [
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["fd00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

/** Express's words for such networks. */
const PRIVATE_WORDS = ["linklocal", "uniquelocal"];

type Listening = Pick<Settings["http"], "host" | "publicUrl" | "trustProxy">;

/**
 * Whether the API believes `X-Forwarded-For` of proxies alone, of every client in the same private network, or of no
 * client although callers seem to come through a proxy.
 */
export function checkTrustedProxies({ trustProxy, ...listening }: Listening): CheckResult {
  const name = "trusted proxies";
  const fix = "Name the proxy's own address in http.trustProxy, such as [loopback, 10.0.0.5].";
  if (trustProxy === true) {
    return warning(name, "X-Forwarded-For of every caller is believed, so each may name any address as its own.", fix);
  }
  if (trustProxy === false || trustProxy === 0) {
    const why = whyProxied(listening);
    if (why === null) return ok(name, "X-Forwarded-For is ignored.");
    const message = `${why}, but X-Forwarded-For is ignored: all callers share the limits of one network.`;
    return warning(name, message, "Name the proxy's own address in http.trustProxy; on this machine: [loopback].");
  }
  if (typeof trustProxy === "number") {
    return ok(name, `X-Forwarded-For is believed for ${trustProxy} hops; callers must not reach this port themselves.`);
  }
  const wide = trustProxy.filter(coversPrivateNetwork);
  if (wide.length === 0) return ok(name, `X-Forwarded-For is believed of ${trustProxy.join(", ")}.`);
  const message = `X-Forwarded-For of whole private networks is believed (${wide.join(", ")}): every neighbour in them`;
  return warning(name, `${message} may name any address as its own.`, fix);
}

/** The sign that there is a proxy in front; null where callers may connect to this process directly. */
function whyProxied({ host, publicUrl }: Omit<Listening, "trustProxy">): string | null {
  if (publicUrl === null) return null;
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === "https:") return `A proxy ends TLS for ${publicUrl}`;
  return isLoopback(host) && !isLoopback(hostname) ? `A proxy leads from ${publicUrl} to ${host}` : null;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));
}

function coversPrivateNetwork(trusted: string): boolean {
  if (PRIVATE_WORDS.includes(trusted)) return true;
  const [address = "", length] = trusted.split("/");
  if (isIP(address) === 0 || length === undefined) return false;
  const network = new BlockList();
  network.addSubnet(address, Number(length), familyOf(address));
  return PRIVATE_NETWORKS.some((range) => range.every((end) => network.check(end, familyOf(end))));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
