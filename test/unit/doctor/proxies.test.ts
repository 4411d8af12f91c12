import { expect } from "chai";
import { checkTrustedProxies } from "../../../config/doctor-proxies.js";

describe("The doctor of trusted proxies", () => {
  it("is content with nobody, with addresses of proxies and with networks that are smaller than a private one", () => {
    const fine = [false, 0, 1, ["loopback"], ["10.0.0.5"], ["loopback", "10.0.0.0/24", "fd00:1:2:3::/64"], ["192.0.2.0/24"]];
    for (const trustProxy of fine) expect(checkTrustedProxies(trustProxy), String(trustProxy)).to.include({ result: "ok" });
  });

  it("warns of networks in which every neighbour would be believed", () => {
    const wide = ["uniquelocal", "linklocal", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "0.0.0.0/0", "fc00::/7", "::/0"];
    for (const network of wide) {
      const found = checkTrustedProxies(["loopback", network]);
      expect(found, network).to.include({ name: "trusted proxies", result: "warning" });
      expect(found.message).to.include(`(${network})`);
      expect(found.mend).to.include("Name the proxy's own address");
    }
  });

  it("warns where every caller is believed", () => {
    expect(checkTrustedProxies(true).result).to.equal("warning");
  });
});
