import { expect } from "chai";
import type { Keyring, KeyPurpose } from "../../core/ports/keyring.js";

/** A keyring under the first of two keys; `rotate` activates the second, `retire` drops the first. */
export interface KeyringUnderTest {
  readonly keyring: Keyring;
  rotate(): Promise<void>;
  retire(): Promise<void>;
  close(): Promise<void>;
}

const PURPOSES: readonly KeyPurpose[] = ["audio-links", "callback-links", "webhook-secrets"];

/**
 * The promises of every `Keyring`.
 *
 * @param open the same two keys each time; signatures without key ids are accepted under the first one
 */
export function keyringContract(name: string, open: () => Promise<KeyringUnderTest>): void {
  describe(`Keyring contract: ${name}`, () => {
    let under: KeyringUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.close());

    it("has a key of 32 bytes for each purpose, all under one id", () => {
      const keys = PURPOSES.map((purpose) => under.keyring.current(purpose));
      expect(keys.map(({ key }) => key.length)).to.deep.equal([32, 32, 32]);
      expect(new Set(keys.map(({ key }) => Buffer.from(key).toString("hex"))).size).to.equal(3);
      const [id] = new Set(keys.map((key) => key.id));
      expect(id).to.match(/^[0-9a-f]{16}$/);
      expect(keys.every((key) => key.id === id)).to.equal(true);
    });

    it("finds the signing key by its id and purpose", async () => {
      for (const purpose of PURPOSES) {
        const current = under.keyring.current(purpose);
        expect(await under.keyring.find(purpose, current.id)).to.deep.equal(current);
      }
    });

    it("signs with the new key after a rotation, and finds both until the first is retired", async () => {
      const first = under.keyring.current("audio-links");
      await under.rotate();
      const second = under.keyring.current("audio-links");
      expect(second.id).to.not.equal(first.id);
      expect(await under.keyring.find("audio-links", first.id)).to.deep.equal(first);
      expect(await under.keyring.find("audio-links", second.id)).to.deep.equal(second);
      await under.retire();
      expect(await under.keyring.find("audio-links", first.id)).to.equal(null);
      expect(await under.keyring.find("audio-links", second.id)).to.deep.equal(second);
    });

    it("uses the first key itself for data without a key id, until it is retired", async () => {
      const found = await under.keyring.find("audio-links", "none");
      expect(found?.id).to.equal("none");
      expect(found?.key).to.be.a("string").with.length.of.at.least(32);
      await under.rotate();
      expect(await under.keyring.find("audio-links", "none")).to.deep.equal(found);
      await under.retire();
      expect(await under.keyring.find("audio-links", "none")).to.equal(null);
    });

    it("finds nothing under unknown ids", async () => {
      for (const id of ["", "0".repeat(16), "none ", "constructor"]) {
        expect(await under.keyring.find("audio-links", id), id).to.equal(null);
      }
    });
  });
}
