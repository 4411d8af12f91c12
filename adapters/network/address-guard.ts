import type { AddressGuard, Resolution } from "../../core/ports/address-guard.js";
import { canonicalAddress } from "./addresses.js";
import { type AddressPolicy, hostOf, isAddress, isLocalhost } from "./address-policy.js";
import { type ResolveName, systemResolver } from "./name-resolver.js";

/** Checks hosts by an {@link AddressPolicy} and the current DNS records. */
export class DnsAddressGuard implements AddressGuard {
  constructor(
    private readonly policy: AddressPolicy,
    private readonly resolveName: ResolveName = systemResolver(),
  ) {}

  admitsHost(hostname: string): boolean {
    return this.policy.admitsHost(hostname);
  }

  async resolve(hostname: string, maxMs: number): Promise<Resolution> {
    const host = hostOf(hostname);
    if (!this.policy.admitsHost(host)) return { state: "blocked", addresses: isAddress(host) ? [host] : [] };
    if (isAddress(host)) return { state: "allowed", addresses: [host] };
    if (isLocalhost(host)) return { state: "allowed", addresses: this.policy.loopbackOf(host) };
    let responses: readonly string[];
    try {
      responses = await this.ask(host, maxMs);
    } catch (error) {
      return { state: "unresolved", reason: error instanceof Error ? error.message : String(error) };
    }
    if (responses.length === 0) return { state: "unresolved", reason: "the name has no address" };
    const addresses = responses.map((response) => canonicalAddress(response) ?? response);
    // One blocked address blocks the name: its name server decides which one a connection would take.
    return {
      state: addresses.every((address) => this.policy.admitsResponse(host, address)) ? "allowed" : "blocked",
      addresses,
    };
  }

  private async ask(host: string, maxMs: number): Promise<readonly string[]> {
    const tooLate = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`no name server answered within ${maxMs} ms`));
        tooLate.abort();
      }, maxMs);
    });
    try {
      return await Promise.race([this.resolveName(host, maxMs, tooLate.signal), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
