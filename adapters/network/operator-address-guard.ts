import { lookup } from "node:dns/promises";
import type { AddressGuard, Resolution } from "../../core/ports/address-guard.js";
import { type Address, canonicalAddress, embeddedIpv4, isMetadata, parseAddress } from "./addresses.js";
import { hostOf, isAddress } from "./address-policy.js";

/** Finds the addresses of a name as other programs on this machine do. */
export type LookUpName = (name: string) => Promise<readonly string[]>;

const systemLookup: LookUpName = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/**
 * For addresses that the operator wrote, such as a provider's base URL and the endpoint of a bucket: they may be
 * anywhere, and a name means what it means to other programs on the machine, search domains included. Only the metadata
 * addresses of clouds have to be written as such: no name leads there.
 */
export class OperatorAddressGuard implements AddressGuard {
  constructor(private readonly lookUp: LookUpName = systemLookup) {}

  admitsHost(): boolean {
    return true;
  }

  async resolve(hostname: string, maxMs: number): Promise<Resolution> {
    const host = hostOf(hostname);
    if (isAddress(host)) return { state: "allowed", addresses: [host] };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`the name was not resolved within ${maxMs} ms`)), maxMs);
    });
    try {
      const found = await Promise.race([this.lookUp(host), late]);
      const addresses = found.map((address) => canonicalAddress(address) ?? address);
      if (addresses.length === 0) return { state: "unresolved", reason: "the name has no address" };
      return { state: addresses.some(isMetadataText) ? "blocked" : "allowed", addresses };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return { state: "unresolved", reason: code === undefined ? message : `the name cannot be resolved (${code})` };
    } finally {
      clearTimeout(timer);
    }
  }
}

function isMetadataText(text: string): boolean {
  const address: Address | null = parseAddress(text);
  if (address === null) return false;
  const inner = embeddedIpv4(address);
  return isMetadata(address) || (inner !== null && isMetadata(inner));
}
