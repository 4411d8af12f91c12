import { expect } from "chai";
import { checkTrustedProxies } from "../../../config/doctor-proxies.js";

const HERE = { host: "127.0.0.1", publicUrl: null };

describe("The doctor of trusted proxies", () => {
  it("accepts ignoring it, addresses of proxies, and networks that are smaller than a private one", () => {
    const fine = [
      false,
      0,
      1,
      ["loopback"],
      ["10.0.0.5"],
      ["loopback", "10.0.0.0/24", "fd00:1:2:3::/64"],
      ["192.0.2.0/24"],
    ];
    for (const trustProxy of fine)
      expect(checkTrustedProxies({ ...HERE, trustProxy }), String(trustProxy)).to.include({ result: "ok" });
  });

  it("warns of networks in which every neighbour would be believed", () => {
    const wide = [
      "uniquelocal",
      "linklocal",
      "10.0.0.0/8",
      "172.16.0.0/12",
      "192.168.0.0/16",
      "0.0.0.0/0",
      "fc00::/7",
      "::/0",
    ];
    for (const network of wide) {
      const found = checkTrustedProxies({ ...HERE, trustProxy: ["loopback", network] });
      expect(found, network).to.include({ name: "trusted proxies", result: "warning" });
      expect(found.message).to.include(`(${network})`);
      expect(found.fix).to.include("Name the proxy's own address");
    }
  });

  it("warns where every caller is believed", () => {
    expect(checkTrustedProxies({ ...HERE, trustProxy: true }).result).to.equal("warning");
  });

  it("warns where X-Forwarded-For is ignored although the public address shows that there is a proxy", () => {
    const proxied = [
      { host: "0.0.0.0", publicUrl: "https://music.example.com" },
      { host: "127.0.0.1", publicUrl: "http://music.example.com" },
      { host: "::1", publicUrl: "http://192.0.2.1:8080" },
    ];
    for (const listening of proxied) {
      const found = checkTrustedProxies({ ...listening, trustProxy: false });
      expect(found, listening.publicUrl).to.include({ name: "trusted proxies", result: "warning" });
      expect(found.message).to.include(listening.publicUrl);
      expect(found.fix).to.include("http.trustProxy");
      expect(checkTrustedProxies({ ...listening, trustProxy: ["loopback"] })).to.include({ result: "ok" });
    }
  });

  it("is content with ignoring it where callers may connect directly", () => {
    const direct = [
      { host: "0.0.0.0", publicUrl: "http://music.example.com:8080" },
      { host: "127.0.0.1", publicUrl: "http://localhost:8080" },
      { host: "localhost", publicUrl: "http://[::1]:8080" },
    ];
    for (const listening of direct)
      expect(checkTrustedProxies({ ...listening, trustProxy: false }), listening.publicUrl).to.include({
        result: "ok",
      });
  });
});
