import { expect } from "chai";
import { secretMask } from "../../../../core/secrets/mask-secrets.js";

describe("secretMask", () => {
  it("masks every occurrence, also of a secret that begins with another", () => {
    const masked = secretMask(["sk_1234", "sk_1234_long"]);
    expect(masked("sk_1234_long, sk_1234 and sk_1234")).to.equal("[redacted], [redacted] and [redacted]");
  });

  it("masks what JSON and URLs make of a secret", () => {
    const secret = '{"key": "a b"}\n';
    const masked = secretMask([secret]);
    expect(masked(JSON.stringify({ sent: secret }))).to.equal('{"sent":"[redacted]"}');
    expect(masked(`https://owl.example/?key=${encodeURIComponent(secret)}`)).to.equal(
      "https://owl.example/?key=[redacted]",
    );
  });

  it("leaves texts alone where there is no secret, or a text too short to be one", () => {
    expect(secretMask([])("words")).to.equal("words");
    expect(secretMask(["", "or"])("words")).to.equal("words");
  });
});
