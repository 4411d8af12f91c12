import { expect } from "chai";
import type { KnexDatabase } from "../../adapters/storage/sql/index.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";

const TEXTS = [
  "",
  "'",
  "''; DROP TABLE fermata_accounts; -- ",
  "\\",
  "\\'; DELETE FROM fermata_accounts; -- ",
  "\\\\'",
  '"; DELETE FROM fermata_accounts; #',
  "?",
  "a\u0000b\u001a\b\n\r\t%_",
  "Ä 🎼 \u{10ffff} \u2028 %27 \u00bf\u0027 \u02bc",
  "/*! DROP TABLE fermata_accounts */",
  "\u00df\u005c\u0027 OR 1=1",
] as const;

/** How every storage treats values that SQL could misread: they come back unchanged, or are refused. */
export function describeBoundValues(
  name: string,
  open: () => Promise<StorageUnderTest & { readonly database: KnexDatabase }>,
): void {
  describe(`Bound values: ${name}`, () => {
    let storage: StorageUnderTest & { readonly database: KnexDatabase };
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    it("are read back equal, alone and in a batch", async () => {
      const values = [...TEXTS, 0, -1.5, 1e15, Number.MAX_SAFE_INTEGER, null];
      const lists = Array.from({ length: 250 }, (_, index) => [
        values[index % values.length] as string | number | null,
      ]);
      await storage.database.reading(async (session) => {
        for (const value of values)
          expect(await session.all("SELECT ? AS value", [value]), String(value)).to.deep.equal([{ value }]);
        expect(await session.allEach("SELECT ? AS value", lists)).to.deep.equal(lists.map(([value]) => ({ value })));
        const bytes = Buffer.from([0, 39, 92, 59, 255, 26]);
        expect(await session.all("SELECT ? AS value", [bytes])).to.deep.equal([{ value: bytes }]);
      });
    });

    it("are stored unchanged", async () => {
      const accounts = [];
      for (const text of TEXTS) accounts.push(await storage.addAccount({ name: text }));
      const found = await storage.accounts.findAccounts(accounts.map(({ id }) => id));
      expect([...found.values()].map((account) => account.name).sort()).to.deep.equal([...TEXTS].sort());
    });

    it("are refused unless they are numbers, texts or bytes, and nothing is written", async () => {
      const before = await storage.addAccount({ name: "kept" });
      const refused: readonly (readonly [value: unknown, what: string])[] = [
        [Infinity, "Infinity"],
        [-Infinity, "-Infinity"],
        [Number.NaN, "NaN"],
        [undefined, "undefined"],
        [{ name: "x" }, "object"],
        [[1, 2], "object"],
        [true, "boolean"],
        [new Date(0), "object"],
      ];
      for (const [value, what] of refused) {
        const values = [value as number, before.id];
        const update = "UPDATE fermata_accounts SET created_at = ? WHERE id = ?";
        for (const write of [
          () => storage.database.transaction((session) => session.run(update, values)),
          () => storage.database.transaction((session) => session.runEach(update, [[1, "unknown"], values])),
          () =>
            storage.inTransaction((tx) =>
              storage.accounts.insertAccounts(tx, [{ ...before, createdAt: value as number }]),
            ),
        ]) {
          const error = await write().then(
            () => null,
            (thrown: unknown) => thrown as Error,
          );
          expect(error?.message, what)
            .to.match(/^The value \d+ of \d+ cannot be stored: /)
            .and.to.include(what);
        }
      }
      expect((await storage.accounts.findAccounts([before.id])).get(before.id)).to.deep.equal(before);
    });
  });
}
