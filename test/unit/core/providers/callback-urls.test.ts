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
    urls = new CallbackUrls(new NodeDigest(), keyring, "https://fermata.test");
  });

  const tokenOf = (provider = "synth"): string => urls.urlOf(provider, jobId)?.split("/").at(-1) ?? "";

  it("accepts the token of a job and its provider, and no other", async () => {
    const token = tokenOf();
    expect(await urls.accepts("synth", jobId, token)).to.equal(true);
    expect(await urls.accepts("mureka", jobId, token)).to.equal(false);
    expect(await urls.accepts("synth", anId("job"), token)).to.equal(false);
    for (const other of ["", `${token}A`, token.slice(17), token.replace("-", ""), `0${token.slice(1)}`, "none"]) {
      if (other !== token) expect(await urls.accepts("synth", jobId, other), other).to.equal(false);
    }
  });

  it("accepts tokens of the key before until it is retired", async () => {
    const token = tokenOf();
    [keyring.previous, keyring.secretKey] = [SECRET, "another secret of 32 characters ."];
    expect(await urls.accepts("synth", jobId, token)).to.equal(true);
    expect(await urls.accepts("synth", jobId, tokenOf())).to.equal(true);
    keyring.previous = null;
    expect(await urls.accepts("synth", jobId, token)).to.equal(false);
  });

  it("accepts tokens of versions without key ids while their key is accepted", async () => {
    const token = createHmac("sha256", SECRET).update(`callback\nsynth\n${jobId}`).digest("base64url");
    expect(await urls.accepts("synth", jobId, token)).to.equal(false);
    keyring.unnamed = SECRET;
    expect(await urls.accepts("synth", jobId, token)).to.equal(true);
    expect(await urls.accepts("mureka", jobId, token)).to.equal(false);
  });
});
