import { isIP } from "node:net";
import type { AddressGuard, Resolution } from "../../../core/ports/address-guard.js";

/**
 * In place of the check of addresses: it admits every host, and resolves every name to one public address, unless a
 * test says otherwise. It never uses DNS.
 *
 * @example
 * const guard = new StubGuard().refuse("intranet.example");
 * guard.response("slow.example", { state: "unresolved", reason: "DNS did not respond" });
 * assert.equal(guard.admitsHost("intranet.example"), false);
 */
export class StubGuard implements AddressGuard {
  /** The resolved names, in order. */
  readonly resolved: string[] = [];
  private readonly refused = new Set<string>();
  private readonly resolutions = new Map<string, Resolution>();

  /** Refuses this host by name. */
  refuse(hostname: string): this {
    this.refused.add(hostname);
    return this;
  }

  /** Sets the addresses of a host. */
  response(hostname: string, resolution: Resolution): this {
    this.resolutions.set(hostname, resolution);
    return this;
  }

  admitsHost(hostname: string): boolean {
    return !this.refused.has(hostname);
  }

  async resolve(hostname: string, _maxMs: number): Promise<Resolution> {
    this.resolved.push(hostname);
    const address = hostname.replace(/^\[|\]$/g, "");
    const addresses = isIP(address) === 0 ? [] : [address];
    if (!this.admitsHost(hostname)) return { state: "blocked", addresses };
    return (
      this.resolutions.get(hostname) ?? {
        state: "allowed",
        addresses: addresses.length > 0 ? addresses : ["198.18.0.1"],
      }
    );
  }
}
