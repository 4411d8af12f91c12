import { expect } from "chai";
import fc from "fast-check";
import { type AddressExceptions, AddressPolicy } from "../../../adapters/network/address-policy.js";
import { METADATA } from "../../../adapters/network/address-blocks.js";
import { embeddings, hostOfUrl, ipv4Spellings, isSpecial, toNumber } from "./spellings.js";

const admits = (exceptions: AddressExceptions, host: string): boolean =>
  new AddressPolicy(exceptions).admitsHost(hostOfUrl(host));
const responses = (exceptions: AddressExceptions, address: string, host = "receiver.example"): boolean =>
  new AddressPolicy(exceptions).admitsResponse(host, address);

describe("AddressPolicy with allowed networks", () => {
  it("admits what is inside in every form, and what is outside in none", () => {
    const policy = new AddressPolicy({ allowNetworks: ["10.1.0.0/16"] });
    const inside = fc.integer({ min: toNumber("10.1.0.0"), max: toNumber("10.1.255.255") });
    const outside = fc.oneof(
      fc.constantFrom(toNumber("10.0.255.255"), toNumber("10.2.0.0")),
      fc.integer({ min: toNumber("10.2.0.0"), max: toNumber("10.255.255.255") }),
    );
    const check = (address: number, isAdmitted: boolean): void => {
      const { mapped, translated, compatible, nat64 } = embeddings(address);
      const literals = [...mapped, ...translated, ...compatible, ...nat64];
      for (const spelling of [...ipv4Spellings(address), ...literals.map((literal) => `[${literal}]`)]) {
        expect(policy.admitsHost(hostOfUrl(spelling)), spelling).to.equal(isAdmitted);
      }
      for (const literal of literals)
        expect(policy.admitsResponse("receiver.example", literal), literal).to.equal(isAdmitted);
    };
    fc.assert(fc.property(inside, (address) => check(address, true)));
    fc.assert(fc.property(outside, (address) => check(address, false)));
  });

  it("takes an address alone, networks of IPv6, and networks written as mapped ones", () => {
    expect(admits({ allowNetworks: ["192.168.7.7"] }, "192.168.7.7")).to.equal(true);
    expect(admits({ allowNetworks: ["192.168.7.7"] }, "192.168.7.8")).to.equal(false);
    expect(admits({ allowNetworks: ["fd12:3456::/32"] }, "[fd12:3456:789a::1]")).to.equal(true);
    expect(admits({ allowNetworks: ["fd12:3456::/32"] }, "[fd12:3457::1]")).to.equal(false);
    expect(admits({ allowNetworks: ["::ffff:10.0.0.0/104"] }, "10.9.8.7")).to.equal(true);
    expect(admits({ allowNetworks: ["64:ff9b::/96"] }, "[64:ff9b::a00:1]")).to.equal(true);
  });

  it("opens no IPv4 address by a wide network of IPv6", () => {
    for (const form of Object.values(embeddings(toNumber("10.0.0.1")))
      .flat()
      .filter((literal) => !literal.startsWith("2002"))) {
      expect(admits({ allowNetworks: ["::/0"] }, `[${form}]`), form).to.equal(false);
    }
    for (const wide of ["64:ff9b::/64", "::ffff:0:0/90", "::ffff:0:0:0/95"]) {
      for (const form of ["64:ff9b::a00:1", "::ffff:10.0.0.1", "::ffff:0:10.0.0.1"])
        expect(admits({ allowNetworks: [wide] }, `[${form}]`), `${wide} ${form}`).to.equal(false);
    }
    expect(admits({ allowNetworks: ["::/0"] }, "10.0.0.1")).to.equal(false);
    expect(admits({ allowNetworks: ["::/0"] }, "[fd00::1]")).to.equal(true);
    expect(admits({ allowNetworks: ["0.0.0.0/0"] }, "[fd00::1]")).to.equal(false);
  });

  it("admits localhost with its loopback network, as those loopback addresses that are allowed", () => {
    const names = ["localhost", "LOCALHOST.", "hooks.localhost"];
    for (const name of names) {
      expect(admits({ allowNetworks: ["127.0.0.0/8"] }, name), name).to.equal(true);
      expect(admits({ allowNetworks: ["::1"] }, name), name).to.equal(true);
      expect(admits({ allowNetworks: ["10.0.0.0/8", "127.0.0.2"] }, name), name).to.equal(false);
    }
    expect(new AddressPolicy({ allowNetworks: ["127.0.0.0/8"] }).loopbackOf("localhost")).to.deep.equal(["127.0.0.1"]);
    expect(new AddressPolicy({ allowNetworks: ["::1/128", "127.0.0.0/8"] }).loopbackOf("localhost")).to.deep.equal([
      "127.0.0.1",
      "::1",
    ]);
    expect(new AddressPolicy().loopbackOf("localhost")).to.deep.equal([]);
  });

  it("leaves the rules for other names as they are", () => {
    for (const name of ["router", "nas.lan", "host.docker.internal"])
      expect(admits({ allowNetworks: ["0.0.0.0/0", "::/0"] }, name), name).to.equal(false);
  });

  for (const address of METADATA) {
    it(`keeps the metadata address ${address} shut inside a wider network, and opens it by its own name`, () => {
      const host = address.includes(":") ? `[${address}]` : address;
      const wide = { allowNetworks: ["0.0.0.0/0", "::/0", "169.254.0.0/16", "100.64.0.0/10", "fd00::/8"] };
      expect([admits(wide, host), responses(wide, address)]).to.deep.equal([false, false]);
      expect(admits({ allowNetworks: [`${address}/${address.includes(":") ? 128 : 32}`] }, host)).to.equal(true);
      expect(admits({ allowNetworks: [address] }, host)).to.equal(true);
      if (address.includes(":")) return;
      const { sixToFour: _, ...forms } = embeddings(toNumber(address));
      for (const literal of Object.values(forms).flat()) expect(responses(wide, literal), literal).to.equal(false);
    });
  }

  it("still admits what is public anyway", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 0xffffffff }).filter((address) => !isSpecial(address)),
        (address) => admits({ allowNetworks: ["10.0.0.0/8"] }, String(address)),
      ),
    );
  });

  for (const wrong of [
    "",
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0/8/8",
    "10.0.0/8",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/1e1",
    "fe80::1%eth0",
    "fe80::%eth0/10",
    "example.com",
    "010.0.0.0/8",
  ]) {
    it(`refuses ${JSON.stringify(wrong)} as a network`, () => {
      expect(() => new AddressPolicy({ allowNetworks: [wrong] })).to.throw("is no network");
    });
  }
});

describe("AddressPolicy with allowed hosts", () => {
  const exceptions = { allowHosts: ["receiver", "Hooks.Corp.", "10.0.0.5", "[fd00::5]", "localhost"] };

  it("admits exactly these names, whatever rule is against them", () => {
    for (const host of ["receiver", "RECEIVER.", "hooks.corp", "localhost"])
      expect(admits(exceptions, host), host).to.equal(true);
    for (const host of ["receiver2", "receiver.lan", "receiver.corp", "x.hooks.corp", "corp", "x.localhost"])
      expect(admits(exceptions, host), host).to.equal(false);
  });

  it("lets them have any address, and other names none of these", () => {
    for (const address of [
      "10.0.0.1",
      "127.0.0.1",
      "192.168.1.1",
      "fd00::1",
      "fe80::1",
      "::1",
      "8.8.8.8",
      "::ffff:10.0.0.1",
    ]) {
      expect(responses(exceptions, address, "receiver"), address).to.equal(true);
      expect(responses(exceptions, address, "x.example"), address).to.equal(address === "8.8.8.8");
    }
  });

  it("keeps metadata shut under them, unless its address is allowed by itself", () => {
    for (const address of [...METADATA, "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"])
      expect(responses(exceptions, address, "receiver"), address).to.equal(false);
    expect(
      responses({ allowHosts: ["receiver"], allowNetworks: ["169.254.169.254"] }, "169.254.169.254", "receiver"),
    ).to.equal(true);
    expect(responses(exceptions, "fe80::1%eth0", "receiver")).to.equal(false);
  });

  it("takes addresses as networks of one", () => {
    expect([admits(exceptions, "10.0.0.5"), admits(exceptions, "[fd00::5]")]).to.deep.equal([true, true]);
    expect([admits(exceptions, "10.0.0.6"), admits(exceptions, "[fd00::6]")]).to.deep.equal([false, false]);
  });

  it("gives localhost both of its addresses", () => {
    expect(new AddressPolicy(exceptions).loopbackOf("localhost")).to.deep.equal(["127.0.0.1", "::1"]);
  });
});
