import {
  type Address,
  contains,
  embeddedIpv4,
  isEmbedding,
  isGlobalUnicast,
  isMetadata,
  isNat64,
  type Network,
  parseAddress,
  parseNetwork,
} from "./addresses.js";
import { PRIVATE_DOMAINS } from "./address-blocks.js";

/** Addresses that an installation admits in addition to the public network. */
export interface AddressExceptions {
  /**
   * CIDR networks, or single addresses. Addresses inside pass in every form; loopback admits the name `localhost` too.
   */
  readonly allowNetworks?: readonly string[];
  /** Exact names, or addresses. Such a name may resolve to any address but those of {@link METADATA}. */
  readonly allowHosts?: readonly string[];
}

const LOOPBACK = ["127.0.0.1", "::1"] as const;

const LABEL_MAX = 63;
const NAME_MAX = 253;

/**
 * Where requests on behalf of others may connect: global unicast, and what the operator admits. It looks nothing up.
 */
export class AddressPolicy {
  private readonly networks: readonly Network[];
  private readonly hosts: ReadonlySet<string>;

  /** @throws {Error} an exception is none */
  constructor({ allowNetworks = [], allowHosts = [] }: AddressExceptions = {}) {
    const hosts = allowHosts.map(hostOf);
    this.networks = [...allowNetworks, ...hosts.filter(isAddress)].map(parseNetwork);
    this.hosts = new Set(hosts.filter((host) => !isAddress(host)));
  }

  /** Checks the host of a URL. @see AddressGuard.admitsHost */
  admitsHost(hostname: string): boolean {
    const host = hostOf(hostname);
    if (isAddress(host)) return this.admitsLiteral(host);
    if (this.hosts.has(host)) return true;
    if (isLocalhost(host)) return this.loopbackOf(host).length > 0;
    return isPublicName(host);
  }

  /** Checks an address of a name, at the moment of connecting. */
  admitsResponse(host: string, text: string): boolean {
    const address = parseAddress(text);
    if (address === null) return false;
    if (this.isOpen(address)) return true;
    if (this.hosts.has(host)) return !isMetadataInside(address);
    const inner = embeddedIpv4(address);
    return isGlobalUnicast(inner !== null && isNat64(address) ? inner : address);
  }

  /** The addresses of `localhost`, which is this machine by definition (RFC 6761, 6.3): those that are admitted. */
  loopbackOf(host: string): readonly string[] {
    return LOOPBACK.filter((address) => this.hosts.has(host) || this.admitsLiteral(address));
  }

  private admitsLiteral(text: string): boolean {
    const address = parseAddress(text);
    return address !== null && (this.isOpen(address) || isGlobalUnicast(address));
  }

  /** True for an address in an allowed network, in any form. */
  private isOpen(address: Address): boolean {
    const inner = embeddedIpv4(address);
    const mustBeNamed = isMetadataInside(address);
    return this.networks.some((network) => {
      const [base, prefix] = network;
      if (mustBeNamed && prefix < (base.kind() === "ipv4" ? 32 : 128)) return false;
      if (inner === null) return contains(network, address);
      // A wide IPv6 network must not open IPv4 by the back door.
      return contains(network, inner) || (isEmbedding(network) && contains(network, address));
    });
  }
}

/** A host as it is compared: without brackets and final dot, in lower case. */
export function hostOf(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

/** True for text that can only be an address; whether it is valid is checked later. */
export function isAddress(host: string): boolean {
  return host.includes(":") || parseAddress(host) !== null;
}

export function isLocalhost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

function isPublicName(host: string): boolean {
  const labels = host.split(".");
  return (
    labels.length > 1 &&
    host.length <= NAME_MAX &&
    labels.every(({ length }) => length >= 1 && length <= LABEL_MAX) &&
    // URL parsers read such a name as an address in another spelling.
    !/^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) as string) &&
    !PRIVATE_DOMAINS.some((domain) => host === domain || host.endsWith(`.${domain}`))
  );
}

function isMetadataInside(address: Address): boolean {
  const inner = embeddedIpv4(address);
  return isMetadata(address) || (inner !== null && isMetadata(inner));
}
