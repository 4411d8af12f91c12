import { isIPv4, isIPv6, SocketAddress } from "node:net";
import { expect } from "chai";
import fc from "fast-check";
import { clientNetwork } from "../../../../core/rate-limits/client-network.js";

describe("The network of a client", () => {
  it("is the address itself for IPv4, in whatever form it comes", () => {
    for (const form of [
      "192.0.2.1",
      "::ffff:192.0.2.1",
      "::FFFF:c000:201",
      "0:0:0:0:0:ffff:192.0.2.1",
      "192.0.2.1:4711",
      "[::ffff:c000:201]:80",
    ]) {
      expect(clientNetwork(form), form).to.equal("192.0.2.1");
    }
    expect(clientNetwork("010.0.0.1")).to.equal("10.0.0.1");
  });

  it("is the /64 for IPv6, in one spelling", () => {
    for (const form of [
      "2001:db8:0:1::",
      "2001:DB8::1:0:0:0:1",
      "2001:0db8:0000:0001:ffff:ffff:ffff:ffff",
      "[2001:db8:0:1::5]:443",
      "2001:db8:0:1::1%eth0",
    ]) {
      expect(clientNetwork(form), form).to.equal("2001:db8:0:1::/64");
    }
    expect(clientNetwork("2001:db8:0:2::1")).to.equal("2001:db8:0:2::/64");
    expect(clientNetwork("::1")).to.equal("0:0:0:0::/64");
    expect(clientNetwork("::192.0.2.1")).to.equal("0:0:0:0::/64");
  });

  it("is unknown for what is no address", () => {
    const wrong = [
      "",
      "unknown",
      "localhost",
      "256.0.0.1",
      "1.2.3",
      "1.2.3.4.5",
      "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "12345::",
      "g::",
      ":::",
      "1:2:3:4:5:6:7:8::",
      "1.2.3.4::",
    ];
    for (const text of wrong) expect(clientNetwork(text), text).to.equal("unknown");
    expect(clientNetwork(undefined)).to.equal("unknown");
  });

  it("is the same for every spelling of an address, and an address wherever Node sees one", () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const { address } = new SocketAddress({ address: text, family: "ipv6" });
        expect(clientNetwork(text)).to.equal(clientNetwork(address)).and.to.not.equal("unknown");
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.stringMatching(/^[0-9a-f:.]{1,20}$/)), (text) => {
        if (isIPv4(text)) expect(clientNetwork(text)).to.equal(text);
        else if (isIPv6(text)) expect(clientNetwork(text)).to.match(/^([\da-f]{1,4}:){4}:\/64$|^[\d.]+$/);
      }),
    );
  });
});
