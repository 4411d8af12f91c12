import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { canonicalAddress } from "./addresses.js";

type Hosts = ReadonlyMap<string, readonly string[]>;

/** Where the operating system keeps names of its own; containers and self-hosters write theirs there. */
export const SYSTEM_HOSTS_FILE =
  process.platform === "win32"
    ? join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", "drivers", "etc", "hosts")
    : "/etc/hosts";

/** A hosts file (hosts(5)), read again when it has changed. */
export class HostsFile {
  private read: { readonly version: string; readonly hosts: Hosts } | null = null;

  constructor(private readonly path: string = SYSTEM_HOSTS_FILE) {}

  /** The addresses of a name, in the order of the file; none for a name that is not there, or when there is no file. */
  async addressesOf(name: string): Promise<readonly string[]> {
    try {
      const { mtimeMs, size } = await stat(this.path);
      const version = `${mtimeMs} ${size}`;
      if (this.read?.version !== version) this.read = { version, hosts: parseHosts(await readFile(this.path, "utf8")) };
      return this.read.hosts.get(name.toLowerCase()) ?? [];
    } catch {
      // As for the system's own resolver: without the file there are only name servers.
      return [];
    }
  }
}

/** Names to addresses. Lines that are none are passed over. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (canonicalAddress(address) === null) continue;
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, "");
      const known = hosts.get(key) ?? [];
      if (!known.includes(address)) hosts.set(key, [...known, address]);
    }
  }
  return hosts;
}
