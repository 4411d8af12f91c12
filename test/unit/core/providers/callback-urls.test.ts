import { createHmac } from "node:crypto";
import { expect } from "chai";
import { NodeDigest } from "../../../../adapters/crypto/digest.js";
import { CallbackUrls } from "../../../../core/providers/callback-urls.js";
import { anId } from "../../../support/builders.js";
import { FixedKeyring } from "../../../support/doubles/fixed-keyring.js";

const SECRET = "a secret of at least 32 characters";
const jobId = anId("job");

describe("CallbackUrls", () => {
  let keyring: FixedKeyring;
  let urls: CallbackUrls;
  beforeEach(() => {
    keyring = new FixedKeyring(SECRET);
    urls = new CallbackUrls({ digest: new NodeDigest(), keyring, publicUrl: "https://fermata.test" });
  });

  const tokenOf = (attempt: number | null = 2): string => urls.urlOf("synth", jobId, attempt)?.split("/").at(-1) ?? "";

  for (const attempt of [2, null]) {
    it(`knows the token of ${attempt === null ? "a job" : "an attempt"} and its provider, and no other`, async () => {
      const token = tokenOf(attempt);
      expect(await urls.read("synth", jobId, token)).to.deep.equal({ attempt });
      expect(await urls.read("mureka", jobId, token)).to.equal(null);
      expect(await urls.read("synth", anId("job"), token)).to.equal(null);
      const bare = token.replace(/^2\./, "");
      for (const other of [
        "",
        `${token}A`,
        bare.slice(17),
        token.replace("-", ""),
        `3.${bare}`,
        `02.${bare}`,
        "none",
      ]) {
        expect(await urls.read("synth", jobId, other), other).to.equal(null);
      }
    });
  }

  it("takes tokens of the key before until it is retired", async () => {
    const token = tokenOf();
    [keyring.previous, keyring.secretKey] = [SECRET, "another secret of 32 characters ."];
    expect(await urls.read("synth", jobId, token)).not.to.equal(null);
    expect(await urls.read("synth", jobId, tokenOf())).not.to.equal(null);
    keyring.previous = null;
    expect(await urls.read("synth", jobId, token)).to.equal(null);
  });

  it("takes tokens of versions without key ids while their key is accepted", async () => {
    const token = createHmac("sha256", SECRET).update(`callback\nsynth\n${jobId}`).digest("base64url");
    expect(await urls.read("synth", jobId, token)).to.equal(null);
    keyring.unnamed = SECRET;
    expect(await urls.read("synth", jobId, token)).not.to.equal(null);
    expect(await urls.read("mureka", jobId, token)).to.equal(null);
  });
});
