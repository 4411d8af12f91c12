import { expect } from "chai";
import { isId } from "../../core/ids.js";
import type { IdPrefix } from "../../core/ids.js";
import type { IdGenerator } from "../../core/ports/id-generator.js";

const PREFIXES: readonly IdPrefix[] = ["acct", "key", "job", "trk", "req", "att", "prc"];

/**
 * The promises of every `IdGenerator`.
 *
 * @param open creates a generator as another process would have it
 */
export function idGeneratorContract(name: string, open: () => IdGenerator): void {
  describe(`IdGenerator contract: ${name}`, () => {
    it("creates ids of the documented form for every prefix", () => {
      const ids = open();
      for (const prefix of PREFIXES) {
        const id = ids.next(prefix);
        expect(isId(prefix, id), id).to.equal(true);
        expect(id.length).to.be.at.most(40);
      }
    });

    it("creates ids in ascending order", () => {
      const ids = open();
      const created = Array.from({ length: 5_000 }, () => ids.next("job"));
      expect([...created].sort()).to.deep.equal(created);
    });

    it("creates unique ids, also across generators", () => {
      const generators = [open(), open(), open()];
      const created = generators.flatMap((ids) => Array.from({ length: 2_000 }, () => ids.next("job")));
      expect(new Set(created).size).to.equal(created.length);
    });
  });
}
