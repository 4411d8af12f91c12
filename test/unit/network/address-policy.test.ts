import { expect } from "chai";
import fc from "fast-check";
import { AddressPolicy } from "../../../adapters/network/address-policy.js";
import { embeddings, hostOfUrl, ipv4Spellings, publicIpv4, specialIpv4, toDotted } from "./spellings.js";

const policy = new AddressPolicy();
const admitsUrl = (host: string): boolean => policy.admitsHost(hostOfUrl(host));
const admitsAnswer = (address: string): boolean => policy.admitsResponse("receiver.example", address);

const BLOCKED_IPV6 = [
  "::",
  "::1",
  "0:0:0:0:0:0:0:1",
  "::2",
  "::7f00:1",
  "::ffff:8.8.8.8",
  "::ffff:0:808:808",
  "64:ff9b:1::1",
  "64:ff9b:1:ffff::808:808",
  "100::1",
  "100:0:0:1::1",
  "1::1",
  "1fff:ffff::1",
  "2001::1",
  "2001:0:4136:e378:8000:63bf:3fff:fdd2",
  "2001:1::1",
  "2001:2::1",
  "2001:10::1",
  "2001:20::1",
  "2001:1ff:ffff::1",
  "2001:db8::1",
  "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
  "2002::1",
  "2002:c0a8:1::1",
  "2002:808:808::1",
  "2620:4f:8000::1",
  "3fff::1",
  "3fff:fff:ffff::1",
  "4000::1",
  "5f00::1",
  "8000::1",
  "fc00::1",
  "fd00:ec2::254",
  "fd20:ce::254",
  "fdff::1",
  "fe80::1",
  "febf::1",
  "fec0::1",
  "feff::1",
  "ff02::1",
  "ff0e::1",
  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
];

const PUBLIC_IPV6 = [
  "2000::1",
  "2001:200::1",
  "2001:4860:4860::8888",
  "2001:dff::1",
  "2003::1",
  "2606:4700::1111",
  "2a00:1450::1",
  "3ffe::1",
  "3fff:1000::1",
];

const BLOCKED_NAMES = [
  "localhost",
  "LOCALHOST",
  "localhost.",
  "a.localhost",
  "a.b.localhost.",
  "loc\u00adalhost",
  "ｌｏｃａｌｈｏｓｔ",
  "l%6fcalhost",
  "router",
  "router.",
  "db-1",
  "local",
  "printer.local",
  "printer.local.",
  "metadata.google.internal",
  "host.docker.internal",
  "localhost.localdomain",
  "nas.lan",
  "nas.home",
  "nas.home.arpa",
  "home.arpa",
  "git.corp",
  "wiki.intranet",
  "x.private",
  "api.default.svc",
  "api.default.svc.cluster.local",
  "a..b",
  ".example.com",
  "example.com..",
  `${"a".repeat(64)}.com`,
  `${"a.".repeat(127)}com`,
];

const PUBLIC_NAMES = [
  "example.com",
  "EXAMPLE.com",
  "example.com.",
  "127.0.0.1.nip.io",
  "localhost.example.com",
  "internal.example.com",
  "mylocalhost.com",
  "xlocal.net",
  "bücher.example",
  "a_b.example.com",
  `${"a".repeat(63)}.com`,
  "x.test",
  "x.example",
  "x.onion",
];

describe("AddressPolicy without exceptions", () => {
  it("refuses every IPv4 address that is not public, in every spelling", () => {
    fc.assert(
      fc.property(specialIpv4, (address) => {
        for (const spelling of ipv4Spellings(address)) expect(admitsUrl(spelling), spelling).to.equal(false);
        expect(admitsAnswer(toDotted(address)), toDotted(address)).to.equal(false);
      }),
      { numRuns: 300 },
    );
  });

  it("admits every other IPv4 address, in every spelling", () => {
    fc.assert(
      fc.property(publicIpv4, (address) => {
        for (const spelling of ipv4Spellings(address)) expect(admitsUrl(spelling), spelling).to.equal(true);
        expect(admitsAnswer(toDotted(address)), toDotted(address)).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });

  it("refuses every form of IPv6 that embeds an IPv4 address, public or not, in a URL", () => {
    fc.assert(
      fc.property(fc.oneof(specialIpv4, publicIpv4), (address) => {
        for (const spelling of Object.values(embeddings(address)).flat())
          expect(admitsUrl(`[${spelling}]`), spelling).to.equal(false);
      }),
    );
  });

  it("checks NAT64 by the embedded address when it is the result for a name, and refuses the other forms", () => {
    const check = (address: number, isPublic: boolean): void => {
      const { nat64, ...others } = embeddings(address);
      for (const spelling of nat64) expect(admitsAnswer(spelling), spelling).to.equal(isPublic);
      for (const spelling of Object.values(others).flat()) expect(admitsAnswer(spelling), spelling).to.equal(false);
    };
    fc.assert(fc.property(specialIpv4, (address) => check(address, false)));
    fc.assert(fc.property(publicIpv4, (address) => check(address, true)));
  });

  it("refuses all of IPv6 outside 2000::/3", () => {
    const outside = fc.tuple(
      fc.integer({ min: 0, max: 0xffff }),
      fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 7, maxLength: 7 }),
    );
    fc.assert(
      fc.property(outside, ([first, others]) => {
        fc.pre(first >>> 13 !== 1);
        const address = [first, ...others].map((part) => part.toString(16)).join(":");
        expect(admitsUrl(`[${address}]`), address).to.equal(false);
        expect(admitsAnswer(address) && !address.startsWith("64:ff9b:0:0:0:0:"), address).to.equal(false);
      }),
      { numRuns: 1_000 },
    );
  });

  for (const address of BLOCKED_IPV6) {
    it(`refuses [${address}]`, () => {
      expect([admitsUrl(`[${address}]`), admitsAnswer(address)]).to.deep.equal([false, false]);
    });
  }

  for (const address of PUBLIC_IPV6) {
    it(`admits [${address}]`, () => {
      expect([admitsUrl(`[${address}]`), admitsUrl(`[${address.toUpperCase()}]`), admitsAnswer(address)]).to.deep.equal(
        [true, true, true],
      );
    });
  }

  it("refuses addresses with a zone, and what is no address at all", () => {
    for (const response of [
      "fe80::1%eth0",
      "2606:4700::1111%1",
      "2606:4700::1111%",
      "",
      "example.com",
      "1.2.3",
      "01.2.3.4",
      "0x7f.1",
      "8.8.8.8 ",
    ]) {
      expect(admitsAnswer(response), response).to.equal(false);
    }
    expect(policy.admitsHost("[2606:4700::1111%25eth0]")).to.equal(false);
  });

  for (const name of BLOCKED_NAMES) {
    it(`refuses the name ${name.length > 60 ? `${name.slice(0, 60)}…` : name}`, () => {
      expect(admitsUrl(name)).to.equal(false);
    });
  }

  for (const name of PUBLIC_NAMES) {
    it(`admits the name ${name.length > 60 ? `${name.slice(0, 60)}…` : name}`, () => {
      expect(admitsUrl(name)).to.equal(true);
    });
  }

  it("refuses what the parser of URLs would have read as an address", () => {
    for (const host of ["2130706433", "0x7f000001", "127.1", "0177.0.0.1", "1.2.3.4.5", "foo.0x", "foo.1", ""])
      expect(policy.admitsHost(host), host).to.equal(false);
  });
});
