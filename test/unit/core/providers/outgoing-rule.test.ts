import { expect } from "chai";
import {
  isAllowedHost,
  isHostPattern,
  OutgoingRule,
  type OutgoingOptions,
} from "../../../../core/providers/outgoing-rule.js";

const ruleOf = (options: Partial<OutgoingOptions>): OutgoingRule =>
  new OutgoingRule({ providerId: "nightingale", settings: {}, hosts: [], allowHosts: [], ...options });

const allows = (rule: OutgoingRule, url: string): boolean => rule.refusal(new URL(url)) === null;

describe("OutgoingRule", () => {
  it("allows what the settings name, as it is, and the same host by https", () => {
    const rule = ruleOf({
      settings: {
        baseUrl: "http://gpu-box:8000/v1",
        apiKey: "sk-1",
        timeoutMs: 5,
        other: "https://a.example, http://b.example",
      },
    });
    for (const url of [
      "http://gpu-box:8000/",
      "http://gpu-box:8000/made/1.mp3?x=y",
      "https://gpu-box/",
      "https://a.example/x",
      "http://b.example/",
    ])
      expect(allows(rule, url), url).to.equal(true);
    for (const url of ["http://gpu-box/", "http://gpu-box:8001/", "http://a.example/", "https://c.example/"])
      expect(allows(rule, url), url).to.equal(false);
    expect(rule.isConfigured(new URL("http://gpu-box:8000/made"))).to.equal(true);
    expect(rule.isConfigured(new URL("https://gpu-box/made")), "another origin: its address is checked").to.equal(
      false,
    );
  });

  it("allows hosts of the definition and of the operator by https alone, and a star for names below", () => {
    const rule = ruleOf({
      hosts: ["api.example.com", "*.cdn.example.com"],
      allowHosts: ["uploads.example.net", "http://10.0.0.5:9000"],
    });
    for (const url of [
      "https://api.example.com/x",
      "https://api.example.com:8443/x",
      "https://API.example.com./x",
      "https://a.cdn.example.com/",
      "https://a.b.cdn.example.com/",
      "https://uploads.example.net/",
      "http://10.0.0.5:9000/x",
    ])
      expect(allows(rule, url), url).to.equal(true);
    for (const url of [
      "http://api.example.com/",
      "https://cdn.example.com/",
      "https://evil-api.example.com/",
      "https://api.example.com.evil.example/",
      "https://evilcdn.example.com/",
      "http://10.0.0.5:9001/",
      "https://127.0.0.1/",
      "ftp://api.example.com/",
    ])
      expect(allows(rule, url), url).to.equal(false);
  });

  it("allows any host by https to a plugin that names none", () => {
    expect(allows(ruleOf({ hosts: null }), "https://anywhere.example/")).to.equal(true);
    expect(allows(ruleOf({ hosts: null }), "http://anywhere.example/")).to.equal(false);
  });

  it("says which plugin, which origin and which setting, and nothing of path and query", () => {
    const rule = ruleOf({});
    const refusals = ["http://127.0.0.1:81/a/secret?signature=s", "https://evil.example/secret?signature=s"].map(
      (url) => rule.refusal(new URL(url)),
    );
    expect(refusals).to.deep.equal([
      "The plugin nightingale may not call http://127.0.0.1:81: " +
        "only https, unless plugins.nightingale.allowHosts names the origin.",
      "The plugin nightingale may not call https://evil.example: " +
        "it is neither among the plugin's hosts nor in plugins.nightingale.allowHosts.",
    ]);
  });

  it("knows hosts and origins from what is neither", () => {
    for (const host of ["api.example.com", "*.example.com", "10.0.0.5"])
      expect(isHostPattern(host), host).to.equal(true);
    for (const host of [
      "",
      "*",
      "*.",
      "localhost",
      "a..b",
      "API.example.com",
      "https://a.example",
      "a.example/x",
      "*.*.example",
      "-a.example",
    ])
      expect(isHostPattern(host), host).to.equal(false);
    for (const entry of ["api.example.com", "http://10.0.0.5:8000", "https://a.example", "http://localhost:9000"])
      expect(isAllowedHost(entry), entry).to.equal(true);
    for (const entry of [
      "http://a.example/",
      "http://a.example/x",
      "http://u:p@a.example",
      "ftp://a.example",
      "localhost",
    ])
      expect(isAllowedHost(entry), entry).to.equal(false);
  });
});
