import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { AddressPolicy, DnsAddressGuard, HostsFile, systemResolver } from "../../adapters/network/index.js";
import { type NameResponse, type NameServer, openNameServer } from "../support/name-server.js";

const never = new AbortController().signal;
const noHosts = new HostsFile("/nowhere/hosts");

describe("systemResolver", () => {
  let directory: string;
  let server: NameServer;
  let responses: Readonly<Record<string, NameResponse>>;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "fermata-hosts-"));
    responses = {};
    server = await openNameServer((type, name) => responses[`${type} ${name}`] ?? []);
  });

  afterEach(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });

  const resolve = (name: string, maxMs = 2_000, hosts = noHosts): Promise<readonly string[] | string> =>
    systemResolver({ hosts, servers: [server.address] })(name, maxMs, never).catch((error: Error) => error.message);

  it("asks for both families and gives them in turn, IPv4 first", async () => {
    responses = { "A a.example": ["192.0.2.1", "192.0.2.2", "192.0.2.3"], "AAAA a.example": ["2001:db8::1"] };
    expect(await resolve("a.example")).to.deep.equal(["192.0.2.1", "2001:db8::1", "192.0.2.2", "192.0.2.3"]);
    expect([...server.questions].sort()).to.deep.equal(["A a.example", "AAAA a.example"]);
  });

  it("is content with one family, also when the other fails or is never answered for", async () => {
    for (const other of [[], "NXDOMAIN", "SERVFAIL", "silence"] as const) {
      responses = { "A a.example": ["192.0.2.1"], "AAAA a.example": other };
      expect(await resolve("a.example"), String(other)).to.deep.equal(["192.0.2.1"]);
    }
    responses = { "AAAA a.example": ["2001:db8::1"], "A a.example": "silence" };
    expect(await resolve("a.example")).to.deep.equal(["2001:db8::1"]);
  });

  it("follows an alias to the addresses at its end", async () => {
    responses = { "A a.example": { alias: "inside.other.example", addresses: ["10.0.0.1"] } };
    expect(await resolve("a.example")).to.deep.equal(["10.0.0.1"]);
  });

  it("says why there is no address", async () => {
    const reasons: readonly (readonly [NameResponse, NameResponse, string])[] = [
      ["NXDOMAIN", "NXDOMAIN", "the name does not exist"],
      [[], [], "the name has no address"],
      ["SERVFAIL", [], "the name server failed"],
      ["REFUSED", "REFUSED", "the name server refused"],
    ];
    for (const [ipv4, ipv6, reason] of reasons) {
      responses = { "A a.example": ipv4, "AAAA a.example": ipv6 };
      expect(await resolve("a.example")).to.equal(reason);
    }
    expect(await resolve(`${"a".repeat(64)}.example`)).to.equal("the name is malformed");
  });

  it("asks the hosts file first, and a name server only for what is not there", async () => {
    const path = join(directory, "hosts");
    await writeFile(path, "10.0.0.1 receiver\nfd00::1 receiver\n");
    responses = { "A receiver": ["192.0.2.1"], "A other": ["192.0.2.2"] };
    const hosts = new HostsFile(path);
    expect(await resolve("receiver", 2_000, hosts)).to.deep.equal(["10.0.0.1", "fd00::1"]);
    expect(server.questions).to.deep.equal([]);
    expect(await resolve("other", 2_000, hosts)).to.deep.equal(["192.0.2.2"]);
    await writeFile(path, "10.0.0.1 receiver\n10.0.0.22 other\n");
    expect(await resolve("other", 2_000, hosts)).to.deep.equal(["10.0.0.22"]);
  });

  it("adds no search domain: a name is asked for as it is", async () => {
    expect(await resolve("receiver")).to.equal("the name has no address");
    expect(new Set(server.questions)).to.deep.equal(new Set(["A receiver", "AAAA receiver"]));
  });

  it("leaves file access its threads while many names get no response, and stops when aborted", async () => {
    responses = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`silent-${index}.example`, index]).flatMap(([name]) => [
        [`A ${name}`, "silence"],
        [`AAAA ${name}`, "silence"],
      ]),
    );
    const stops = Array.from({ length: 20 }, () => new AbortController());
    let settled = 0;
    const waiting = stops.map(({ signal }, index) =>
      systemResolver({ hosts: noHosts, servers: [server.address] })(`silent-${index}.example`, 60_000, signal).then(
        () => "resolved",
        (error: Error) => ((settled += 1), error.message),
      ),
    );
    await server.asked(40);
    // More than there are threads.
    await Promise.all(Array.from({ length: 8 }, () => readFile(import.meta.filename)));
    expect(settled).to.equal(0);
    for (const stop of stops) stop.abort();
    expect(new Set(await Promise.all(waiting))).to.deep.equal(new Set(["no name server answered in time"]));
  });

  it("puts a question again that got lost", async () => {
    let lost = 0;
    const lossy = await openNameServer((type) => (type === "AAAA" ? [] : lost++ === 0 ? "silence" : ["192.0.2.1"]));
    try {
      expect(
        await systemResolver({ hosts: noHosts, servers: [lossy.address] })("a.example", 1_000, never),
      ).to.deep.equal(["192.0.2.1"]);
    } finally {
      await lossy.close();
    }
  });

  it("is bounded by the guard that uses it", async () => {
    responses = { "A a.example": "silence", "AAAA a.example": "silence" };
    const guard = new DnsAddressGuard(
      new AddressPolicy(),
      systemResolver({ hosts: noHosts, servers: [server.address] }),
    );
    expect(await guard.resolve("a.example", 100)).to.deep.equal({
      state: "unresolved",
      reason: "no name server answered within 100 ms",
    });
  });
});

describe("The hosts file of this machine", () => {
  it("knows localhost", async () => {
    expect(await new HostsFile().addressesOf("LocalHost")).to.include("127.0.0.1");
  });
});
