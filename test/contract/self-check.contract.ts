import { expect } from "chai";
import type { SelfCheck } from "../../core/ports/self-check.js";

/** A check of `fermata doctor`, with the secrets that it knows. */
export interface SelfCheckUnderTest {
  readonly check: SelfCheck;
  /** A secret among its settings. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

/**
 * The promises of every `SelfCheck`.
 *
 * @param open called once for the suite
 */
export function selfCheckContract(name: string, open: () => Promise<SelfCheckUnderTest>): void {
  describe(`SelfCheck contract: ${name}`, () => {
    let subject: SelfCheckUnderTest;

    before(async () => {
      subject = await open();
    });

    after(() => subject.close());

    it("returns check results, each with a unique name", async () => {
      const names = (await subject.check()).map((result) => result.name);
      expect(names).to.not.be.empty;
      expect(new Set(names).size, names.join(", ")).to.equal(names.length);
    });

    it("describes each result, and the fix of each problem", async () => {
      for (const { name, result, message, fix } of await subject.check()) {
        expect(["ok", "warning", "failed"], name).to.include(result);
        expect(message, name)
          .to.match(/^\S.*\.$/s)
          .and.not.match(/undefined|null|NaN|\.\.$/);
        if (result === "ok") expect(fix, name).to.equal(null);
        else
          expect(fix, name)
            .to.match(/^\S.+\S$/s)
            .and.not.match(/undefined|null|NaN/);
      }
    });

    it("returns the same again: checks change nothing", async () => {
      const results = async (): Promise<string[]> =>
        (await subject.check()).map(({ name, result }) => `${name}: ${result}`);
      expect(await results()).to.deep.equal(await results());
    });

    it("shows no secret", async () => {
      const shown = JSON.stringify(await subject.check());
      for (const secret of subject.secrets) expect(shown).to.not.include(secret);
    });
  });
}
