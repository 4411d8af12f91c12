/** What lists of networks and hosts hold. */
import { isIP } from "node:net";

export function isAddress(value: string): boolean {
  return isIP(value) !== 0;
}

/** True for an address with a prefix length: `10.0.0.0/8`, `fd00::/8`. */
export function isNetwork(value: string): boolean {
  const [address = "", length = "", ...others] = value.split("/");
  const family = isIP(address);
  return others.length === 0 && family !== 0 && /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
}

/** True for a host name as a URL has it: lower-case labels, no port. */
export function isHostName(value: string): boolean {
  return value.length <= 253 && /^[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*$/.test(value);
}
