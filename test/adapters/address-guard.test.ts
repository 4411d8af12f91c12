import { expect } from "chai";
import { AddressPolicy, DnsAddressGuard, type ResolveName } from "../../adapters/network/index.js";
import { addressGuardContract, type GuardUnderTest } from "../contract/address-guard.contract.js";
import { StubGuard } from "../support/doubles/stub-guard.js";

const NAMES: Omit<GuardUnderTest, "guard"> = {
  reachable: { name: "public.example", addresses: ["93.184.216.34", "2606:2800:220:1::1"] },
  refusedName: "metadata.google.internal",
  blocked: { name: "inside.example", addresses: ["93.184.216.34", "10.0.0.1"] },
  unknownName: "unknown.example",
  silentName: "silent.example",
  refusedLiteral: { hostname: "[::ffff:7f00:1]", address: "::ffff:7f00:1" },
};

/** A resolver with scripted results for each name, one after the other; the last one stays. */
function resolverOf(responses: Readonly<Record<string, readonly (readonly string[])[]>>): ResolveName {
  const asked = new Map<string, number>();
  return async (name) => {
    const turn = asked.get(name) ?? 0;
    asked.set(name, turn + 1);
    const given = responses[name];
    if (given === undefined) throw new Error("the name does not exist");
    return given[Math.min(turn, given.length - 1)] ?? [];
  };
}

addressGuardContract("DnsAddressGuard", () => {
  const known = resolverOf({
    [NAMES.reachable.name]: [NAMES.reachable.addresses],
    [NAMES.blocked.name]: [NAMES.blocked.addresses],
  });
  const resolve: ResolveName = (name, maxMs, signal) =>
    name === NAMES.silentName ? new Promise(() => undefined) : known(name, maxMs, signal);
  return { ...NAMES, guard: new DnsAddressGuard(new AddressPolicy(), resolve) };
});

addressGuardContract("StubGuard", () => ({
  ...NAMES,
  guard: new StubGuard()
    .response(NAMES.reachable.name, { state: "allowed", addresses: NAMES.reachable.addresses })
    .response(NAMES.blocked.name, { state: "blocked", addresses: NAMES.blocked.addresses })
    .response(NAMES.unknownName, { state: "unresolved", reason: "scripted" })
    .response(NAMES.silentName, { state: "unresolved", reason: "scripted" })
    .refuse(NAMES.refusedName)
    .refuse(NAMES.refusedLiteral.hostname),
}));

describe("DnsAddressGuard, by what a name resolves to", () => {
  const stateOf = async (responses: readonly string[], exceptions = {}): Promise<string> =>
    (
      await new DnsAddressGuard(new AddressPolicy(exceptions), resolverOf({ "name.example": [responses] })).resolve(
        "name.example",
        1_000,
      )
    ).state;

  const table: readonly (readonly [answers: readonly string[], state: string])[] = [
    [["93.184.216.34"], "allowed"],
    [["10.0.0.1"], "blocked"],
    [["93.184.216.34", "10.0.0.1"], "blocked"],
    [["10.0.0.1", "93.184.216.34"], "blocked"],
    [["2606:4700::1111", "fe80::1"], "blocked"],
    [[], "unresolved"],
    [["::ffff:10.0.0.1"], "blocked"],
    [["::ffff:8.8.8.8"], "blocked"],
    [["::10.0.0.1"], "blocked"],
    [["64:ff9b::a00:1"], "blocked"],
    [["64:ff9b::7f00:1"], "blocked"],
    [["64:ff9b::a9fe:a9fe"], "blocked"],
    [["64:ff9b::808:808"], "allowed"],
    [["64:ff9b:1::808:808"], "blocked"],
    [["127.0.0.1"], "blocked"],
    [["0.0.0.0"], "blocked"],
    [["169.254.169.254"], "blocked"],
    [["168.63.129.16"], "blocked"],
    [["2002:a00:1::"], "blocked"],
    [["2001:0:4136:e378:8000:63bf:3fff:fdd2"], "blocked"],
    [["fe80::1%eth0"], "blocked"],
    [["not an address"], "blocked"],
  ];
  for (const [results, state] of table) {
    it(`[${results.join(", ")}]: ${state}`, async () => {
      expect(await stateOf(results)).to.equal(state);
    });
  }

  it("checks every result again: public at first, private the second time", async () => {
    const guard = new DnsAddressGuard(
      new AddressPolicy(),
      resolverOf({ "rebind.example": [["93.184.216.34"], ["127.0.0.1"]] }),
    );
    expect(await guard.resolve("rebind.example", 1_000)).to.deep.equal({
      state: "allowed",
      addresses: ["93.184.216.34"],
    });
    expect(await guard.resolve("rebind.example", 1_000)).to.deep.equal({ state: "blocked", addresses: ["127.0.0.1"] });
  });

  it("lets a harmless name pass that resolves to loopback, and blocks it then", async () => {
    const guard = new DnsAddressGuard(new AddressPolicy(), resolverOf({ "127.0.0.1.nip.io": [["127.0.0.1"]] }));
    expect(guard.admitsHost("127.0.0.1.nip.io")).to.equal(true);
    expect(await guard.resolve("127.0.0.1.nip.io", 1_000)).to.have.property("state", "blocked");
  });

  it("notices that a name is gone", async () => {
    const guard = new DnsAddressGuard(new AddressPolicy(), resolverOf({ "gone.example": [["93.184.216.34"], []] }));
    expect(await guard.resolve("gone.example", 1_000)).to.have.property("state", "allowed");
    expect(await guard.resolve("gone.example", 1_000)).to.deep.equal({
      state: "unresolved",
      reason: "the name has no address",
    });
  });

  it("admits what lies in allowed networks, and still refuses all for one answer outside", async () => {
    const exceptions = { allowNetworks: ["10.0.0.0/8"] };
    expect(await stateOf(["10.0.0.1", "93.184.216.34"], exceptions)).to.equal("allowed");
    expect(await stateOf(["10.0.0.1", "192.168.0.1"], exceptions)).to.equal("blocked");
  });

  it("admits whatever an allowed name resolves to, but metadata", async () => {
    const exceptions = { allowHosts: ["name.example"] };
    expect(await stateOf(["10.0.0.1", "127.0.0.1", "fd00::1"], exceptions)).to.equal("allowed");
    expect(await stateOf(["10.0.0.1", "169.254.169.254"], exceptions)).to.equal("blocked");
  });

  it("gives localhost its own addresses, whatever a name server says", async () => {
    const resolve = resolverOf({ localhost: [["10.0.0.1"]], "hooks.localhost": [["10.0.0.1"]] });
    const guard = new DnsAddressGuard(new AddressPolicy({ allowNetworks: ["127.0.0.0/8"] }), resolve);
    for (const name of ["localhost", "hooks.localhost", "LOCALHOST."])
      expect(await guard.resolve(name, 1_000)).to.deep.equal({ state: "allowed", addresses: ["127.0.0.1"] });
    const both = new DnsAddressGuard(new AddressPolicy({ allowHosts: ["localhost"] }), resolve);
    expect(await both.resolve("localhost", 1_000)).to.deep.equal({ state: "allowed", addresses: ["127.0.0.1", "::1"] });
    expect(await new DnsAddressGuard(new AddressPolicy(), resolve).resolve("localhost", 1_000)).to.deep.equal({
      state: "blocked",
      addresses: [],
    });
  });

  it("tells the resolver to stop when the time is over", async () => {
    const signals: AbortSignal[] = [];
    const silent: ResolveName = (_name, _maxMs, signal) => (signals.push(signal), new Promise(() => undefined));
    await new DnsAddressGuard(new AddressPolicy(), silent).resolve("name.example", 20);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true]);
  });

  it("never rejects, whatever the resolver throws", async () => {
    const failures: readonly ResolveName[] = [
      () => Promise.reject(new Error("scripted")),
      () => {
        throw new Error("scripted");
      },
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what a library might do
      () => Promise.reject("scripted"),
    ];
    for (const failure of failures) {
      expect(await new DnsAddressGuard(new AddressPolicy(), failure).resolve("name.example", 1_000)).to.deep.equal({
        state: "unresolved",
        reason: "scripted",
      });
    }
  });
});
