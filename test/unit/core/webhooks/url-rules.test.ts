import { expect } from "chai";
import { FermataError } from "../../../../core/errors.js";
import { normaliseWebhookUrl } from "../../../../core/webhooks/url-rules.js";

const classified: string[] = [];
const guard = {
  admitsHost(hostname: string): boolean {
    classified.push(hostname);
    return !hostname.startsWith("blocked");
  },
};
const LONG_LABEL = "a".repeat(64);
const LONG_NAME = Array.from({ length: 64 }, () => "abc").join(".");

/** The code of the refusal, or the normalised form. */
function outcome(text: string, allowHttp = false): string {
  try {
    return normaliseWebhookUrl(text, { guard, allowHttp }).href;
  } catch (error) {
    if (FermataError.is(error)) return error.code;
    throw error;
  }
}

describe("The rules of webhook URLs", () => {
  it("keep the parser's normalised form", () => {
    expect(outcome("HTTPS://Hooks.Example.COM:443/a/../b?x=1#f")).to.equal("https://hooks.example.com/b?x=1#f");
    expect(outcome("https://exa\tmple.com\\hook")).to.equal("https://example.com/hook");
    expect(outcome("https://bücher.example:8443/")).to.equal("https://xn--bcher-kva.example:8443/");
  });

  for (const text of [
    "",
    "no url",
    "https://",
    "https://256.256.256.256/",
    "https://[fe80::1%25eth0]/",
    "https://a..b/",
    "https://./",
    `https://${LONG_LABEL}.example.com/`,
    `https://${LONG_NAME}.example.com/`,
    `https://example.com/${"a".repeat(2_048)}`,
    `https://example.com/${"ä".repeat(1_000)}`,
  ]) {
    it(`find ${JSON.stringify(text.slice(0, 40))} invalid`, () =>
      expect(outcome(text)).to.equal("webhook_url_invalid"));
  }

  for (const text of [
    "http://example.com/",
    "ftp://example.com/",
    "localhost:8443",
    "example.com:443/x",
    "mailto:a@example.com",
    "javascript:alert(1)",
  ]) {
    it(`want https in place of ${text}`, () => expect(outcome(text)).to.equal("webhook_https_required"));
  }

  it("take plain http where config allows it, and nothing else", () => {
    expect(outcome("http://example.com/", true)).to.equal("http://example.com/");
    expect(outcome("ftp://example.com/", true)).to.equal("webhook_https_required");
  });

  it("forbid credentials, and take an empty user part for none", () => {
    expect(outcome("https://user@example.com/")).to.equal("webhook_credentials_forbidden");
    expect(outcome("https://:secret@example.com/")).to.equal("webhook_credentials_forbidden");
    expect(outcome("https://@example.com/")).to.equal("https://example.com/");
  });

  it("check the host in its normalised form, and last", () => {
    expect(outcome("https://BLOCKED.example/")).to.equal("webhook_host_blocked");
    classified.length = 0;
    outcome("https://0x7f.1/");
    outcome("https://[::ffff:127.0.0.1]/");
    expect(classified).to.deep.equal(["127.0.0.1", "[::ffff:7f00:1]"]);
    expect(outcome("http://user@blocked.example/")).to.equal("webhook_https_required");
    expect(outcome("https://user@blocked.example/")).to.equal("webhook_credentials_forbidden");
    expect(outcome("http://a..b/")).to.equal("webhook_url_invalid");
  });
});
