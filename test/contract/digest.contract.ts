import { expect } from "chai";
import type { Digest } from "../../core/ports/digest.js";

/**
 * The promises of every `Digest`.
 *
 * @param open called by each test
 */
export function digestContract(name: string, open: () => Digest): void {
  describe(`Digest contract: ${name}`, () => {
    it("hashes the examples of FIPS 180-2", () => {
      const digest = open();
      expect(digest.sha256("abc")).to.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
      expect(digest.sha256("")).to.equal("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    });

    it("hashes a text as its UTF-8 bytes", () => {
      expect(open().sha256("é")).to.equal("4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c");
    });

    it("computes the HMAC of RFC 4231, case 2", () => {
      const expected = Buffer.from("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", "hex").toString(
        "base64url",
      );
      expect(open().hmacSha256("Jefe", "what do ya want for nothing?")).to.equal(expected);
    });

    it("writes HMACs in base64url without padding", () => {
      const digest = open();
      for (let text = 0; text < 50; text++)
        expect(digest.hmacSha256("key", String(text))).to.match(/^[A-Za-z0-9_-]{43}$/);
    });

    it("compares texts of any length", () => {
      const digest = open();
      expect(digest.equals("same", "same")).to.equal(true);
      expect(digest.equals("", "")).to.equal(true);
      expect(digest.equals("same", "sama")).to.equal(false);
      expect(digest.equals("same", "same and more")).to.equal(false);
      expect(digest.equals("", "x")).to.equal(false);
      expect(digest.equals("é", "e\u0301")).to.equal(false);
    });
  });
}
