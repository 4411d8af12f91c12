import { Resolver } from "node:dns/promises";
import { HostsFile } from "./hosts-file.js";

/**
 * Finds the addresses of a name. It may give up when `maxMs` are over, and gives up when the signal aborts.
 *
 * @throws {Error} there are none; the message says why
 */
export type ResolveName = (name: string, maxMs: number, signal: AbortSignal) => Promise<readonly string[]>;

/** The wait for the other family once one has resolved: some name servers never respond for IPv6. */
const OTHER_FAMILY_MS = 500;

/** A question is put again, to the next server if there is one, after this part of the time. */
const LOOKUP_ATTEMPTS = 4;
const TRY_MIN_MS = 100;

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "the name does not exist",
  ENODATA: "the name has no address",
  EBADNAME: "the name is malformed",
  ESERVFAIL: "the name server failed",
  EREFUSED: "the name server refused",
  ECONNREFUSED: "no name server could be reached",
  ETIMEOUT: "no name server answered in time",
  ECANCELLED: "no name server answered in time",
};

/**
 * Asks the hosts file, then the name servers of the system. `dns.lookup` would do the same on one of the four threads
 * that files share, and keep it for as long as a server stays silent; this waits on sockets of its own. What only other
 * sources know (mDNS, LDAP) is not found, and no search domain is added.
 *
 * @param servers other name servers than the system's, as `host:port`
 */
export function systemResolver({
  hosts = new HostsFile(),
  servers,
}: { readonly hosts?: HostsFile; readonly servers?: readonly string[] } = {}): ResolveName {
  return async (name, maxMs, signal) => {
    const known = await hosts.addressesOf(name);
    return known.length > 0 ? known : askServers(name, maxMs, signal, servers);
  };
}

/** A resolver for each query: it reads the system's servers again, and is cancelled alone. */
async function askServers(
  name: string,
  maxMs: number,
  signal: AbortSignal,
  servers: readonly string[] | undefined,
): Promise<readonly string[]> {
  const resolver = new Resolver({
    timeout: Math.max(TRY_MIN_MS, Math.ceil(maxMs / LOOKUP_ATTEMPTS)),
    tries: LOOKUP_ATTEMPTS,
  });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel);
  let timer: NodeJS.Timeout | undefined;
  const soon = <T>(response: T): T => {
    timer ??= setTimeout(cancel, OTHER_FAMILY_MS);
    return response;
  };
  try {
    signal.throwIfAborted();
    const responses = await Promise.allSettled([
      resolver.resolve4(name).then(soon),
      resolver.resolve6(name).then(soon),
    ]);
    const [ipv4 = [], ipv6 = []] = responses.map((response) => (response.status === "fulfilled" ? response.value : []));
    const addresses = inTurn(ipv4, ipv6);
    if (addresses.length > 0) return addresses;
    throw new Error(reasonOf(responses));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

/** Of two failures that one counts which says more than that this family has no address. */
function reasonOf(responses: readonly PromiseSettledResult<unknown>[]): string {
  const codes = responses.map((response) =>
    response.status === "rejected" ? String((response.reason as NodeJS.ErrnoException).code) : "ENODATA",
  );
  const code = codes.find((one) => one !== "ENODATA") ?? "ENODATA";
  return REASONS[code] ?? `the name cannot be resolved (${code})`;
}

/** IPv4 first: a machine without IPv6 learns so at once, one with a broken IPv6 only after a wait. */
function inTurn(ipv4: readonly string[], ipv6: readonly string[]): string[] {
  return Array.from({ length: Math.max(ipv4.length, ipv6.length) }, (_, index) => [ipv4[index], ipv6[index]])
    .flat()
    .filter((address) => address !== undefined);
}
