import { expect } from "chai";
import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import { fingerprint } from "../../adapters/crypto/secret-key.js";
import { secretBoxContract } from "../contract/secret-box.contract.js";
import { FixedKeyring } from "../support/doubles/fixed-keyring.js";

const keyOf = (name: string): string => `a secret key of an installation, ${name}`;
const boxOf = (name: string): AesSecretBox => new AesSecretBox(new FixedKeyring(keyOf(name)));

secretBoxContract("AesSecretBox", boxOf);

describe("AesSecretBox", () => {
  const OLD = "v1.y6q22WnUhJDKCdLWjH0c5hn1_mYLOztLfy-p4QxOoG5-Bcl844RPBbZh5uwWOci5UB_3CMn5qg";

  const refusalOf = (opened: Promise<string>): Promise<string> =>
    opened.then(
      () => "OPENED",
      (error: Error) => error.message,
    );

  it("opens texts sealed by a version without key ids, while that key is accepted", async () => {
    const keyring = new FixedKeyring(keyOf("two"));
    keyring.unnamed = keyOf("one");
    const box = new AesSecretBox(keyring);
    expect(box.keyIdOf(OLD)).to.equal("none");
    expect(await box.open(OLD, "whe_1")).to.equal("whsec_of an earlier version");
    keyring.unnamed = null;
    expect(await refusalOf(box.open(OLD, "whe_1"))).to.include("needs the secret key none, which is not in force");
  });

  it("writes the version of its format and the key's id", async () => {
    const sealed = boxOf("one").seal("text", "whe_1");
    expect(sealed).to.match(new RegExp(`^v2\\.${fingerprint(keyOf("one"))}\\.[A-Za-z0-9_-]+$`));
    expect(boxOf("one").keyIdOf(sealed)).to.equal(fingerprint(keyOf("one")));
    expect(await refusalOf(boxOf("one").open("v3.AAAA", "whe_1"))).to.equal(
      "A sealed secret is not of the form v2.KEY.… or v1.…",
    );
  });

  it("opens texts sealed with the previous key until that is retired, and seals with the new one", async () => {
    const keyring = new FixedKeyring(keyOf("one"));
    const box = new AesSecretBox(keyring);
    const sealed = box.seal("text", "whe_1");
    [keyring.previous, keyring.secretKey] = [keyOf("one"), keyOf("two")];
    expect(await box.open(sealed, "whe_1")).to.equal("text");
    expect(box.keyIdOf(box.seal("text", "whe_1"))).to.equal(fingerprint(keyOf("two")));
    keyring.previous = null;
    expect(await refusalOf(box.open(sealed, "whe_1"))).to.include("which is not in force");
  });

  it("names the missing key by its id, and reveals nothing of any key", async () => {
    const sealed = boxOf("one").seal("text", "whe_1");
    const refusal = await refusalOf(boxOf("two").open(sealed, "whe_1"));
    expect(refusal)
      .to.include(fingerprint(keyOf("one")))
      .and.not.include(keyOf("one"))
      .and.not.include(keyOf("two"));
  });
});
