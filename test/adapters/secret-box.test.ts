import { expect } from "chai";
import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import { fingerprint } from "../../adapters/crypto/secret-key.js";
import { secretBoxContract } from "../contract/secret-box.contract.js";

const keyOf = (name: string): string => `a secret key of an installation, ${name}`;

secretBoxContract("AesSecretBox", (key) => new AesSecretBox(keyOf(key)));

describe("AesSecretBox", () => {
  it("opens what an earlier version sealed", () => {
    const sealed = "v1.y6q22WnUhJDKCdLWjH0c5hn1_mYLOztLfy-p4QxOoG5-Bcl844RPBbZh5uwWOci5UB_3CMn5qg";
    expect(new AesSecretBox(keyOf("one")).open(sealed, "whe_1")).to.equal("whsec_of an earlier version");
  });

  it("names the version of its form", () => {
    expect(new AesSecretBox(keyOf("one")).seal("text", "whe_1")).to.match(/^v1\.[A-Za-z0-9_-]+$/);
    expect(() => new AesSecretBox(keyOf("one")).open("v2.AAAA", "whe_1")).to.throw("A sealed secret is not of the form v1.…");
  });

  it("says that the key may be another, and nothing of it", () => {
    const sealed = new AesSecretBox(keyOf("one")).seal("text", "whe_1");
    expect(() => new AesSecretBox(keyOf("two")).open(sealed, "whe_1")).to.throw(/another secret key/);
    expect(sealed).to.not.include(fingerprint(keyOf("one")));
  });
});
