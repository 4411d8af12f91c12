import { expect } from "chai";
import type { SecretBox } from "../../core/ports/secret-box.js";

/**
 * The promises of every `SecretBox`.
 *
 * @param open a box under the key of this name: the same name, the same key
 */
export function secretBoxContract(name: string, open: (key: string) => SecretBox): void {
  describe(`SecretBox contract: ${name}`, () => {
    const refusalOf = async (work: () => Promise<string>): Promise<string> => {
      try {
        return `OPENED ${await work()}`;
      } catch (error) {
        return (error as Error).message;
      }
    };

    for (const text of ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "", "é 音楽 🎵\0", "x".repeat(100_000)]) {
      it(`opens ${JSON.stringify(text.slice(0, 20))}, also in another box under the same key`, async () => {
        const sealed = open("one").seal(text, "whe_1");
        expect(await open("one").open(sealed, "whe_1")).to.equal(text);
      });
    }

    it("seals the same text differently each time, and unreadably", () => {
      const box = open("one");
      const sealed = Array.from({ length: 100 }, () => box.seal("a secret of some length", "whe_1"));
      expect(new Set(sealed).size).to.equal(100);
      for (const one of sealed)
        expect(one)
          .to.match(/^[\x21-\x7e]+$/)
          .and.not.include("secret");
    });

    it("opens nothing that was sealed for another purpose", async () => {
      const sealed = open("one").seal("the text", "whe_1");
      for (const context of ["whe_2", "", "whe_1 "]) {
        const refusal = await refusalOf(() => open("one").open(sealed, context));
        expect(refusal, context).to.be.a("string").and.not.include("OPENED").and.not.include("the text");
      }
    });

    it("opens nothing that was sealed under another key", async () => {
      const sealed = open("one").seal("the text", "whe_1");
      expect(await refusalOf(() => open("two").open(sealed, "whe_1")))
        .to.be.a("string")
        .and.not.include("OPENED");
    });

    it("returns the id of the key that a text was sealed with, without opening it", () => {
      const [one, again, two] = [open("one"), open("one"), open("two")].map((box) => box.keyIdOf(box.seal("a", "b")));
      expect([one, two === one]).to.deep.equal([again, false]);
      expect(() => open("one").keyIdOf("the text")).to.throw("not of the form");
    });

    it("opens nothing that was changed, shortened or extended anywhere", async () => {
      const box = open("one");
      const sealed = box.seal("the text", "whe_1");
      const changed = [...sealed].flatMap((character, index) => {
        const other = character === "A" ? "B" : "A";
        return [
          sealed.slice(0, index),
          `${sealed.slice(0, index)}${other}${sealed.slice(index + 1)}`,
          `${sealed.slice(0, index)}A${sealed.slice(index)}`,
        ];
      });
      for (const one of [...changed, `${sealed}A`, `${sealed}.`, `${sealed} `, `${sealed}=`, "", "the text"]) {
        const refusal = await refusalOf(() => box.open(one, "whe_1"));
        expect(refusal, one).to.be.a("string").and.not.include("OPENED").and.not.include("the text");
      }
    });
  });
}
