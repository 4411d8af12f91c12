import { expect } from "chai";
import { NodeDigest } from "../../../../adapters/crypto/digest.js";
import { InvalidRequestError } from "../../../../core/errors.js";
import { ListCursors, newestFirst } from "../../../../core/lists/cursors.js";
import { firstOf, isBehind } from "../../../../core/lists/pages.js";
import { anId, NOON } from "../../../support/builders.js";

const digest = new NodeDigest();

describe("Cursors of lists", () => {
  const cursors = new ListCursors(digest, "generations", newestFirst("job"));
  const scope = { accountId: anId("acct"), filters: { status: 202, client: undefined } };
  const position = { createdAt: NOON, id: anId("job") };

  it("name a place, and are safe in a URL", () => {
    const cursor = cursors.write(position, scope) ?? "";
    expect(cursor).to.match(/^[\w-]{20,200}$/);
    expect(cursors.read(cursor, scope)).to.deep.equal(position);
    expect(cursors.read(cursor, { ...scope, filters: { status: 202 } }), "undefined is no filter").to.deep.equal(
      position,
    );
  });

  it("are there only where something follows", () => {
    expect(cursors.write(null, scope)).to.equal(null);
    expect(cursors.read(undefined, scope)).to.equal(null);
  });

  it("are refused for another list, account or filter", () => {
    const cursor = cursors.write(position, scope) ?? "";
    const others = [
      () => new ListCursors(digest, "logs", newestFirst("job")).read(cursor, scope),
      () => cursors.read(cursor, { ...scope, accountId: anId("acct") }),
      () => cursors.read(cursor, { ...scope, accountId: null }),
      () => cursors.read(cursor, { ...scope, filters: { status: 200 } }),
      () => cursors.read(cursor, { accountId: scope.accountId }),
      () => cursors.read(cursor, { ...scope, filters: { ...scope.filters, client: "cli" } }),
    ];
    for (const read of others) expect(read).to.throw(InvalidRequestError);
  });

  it("have a checksum of 16 digits, and no sign that a URL takes for another", () => {
    const names = new ListCursors<readonly string[]>(digest, "names", {
      toParts: (parts) => parts,
      fromParts: (parts) => parts as readonly string[],
    });
    for (const place of [["~~~???>>>"], ["a", ""], ["ab", "c", "d>>?"], ["?>?>?>"]]) {
      const cursor = names.write(place, scope) ?? "";
      expect(cursor).to.match(/^[\w-]+$/);
      expect(names.read(cursor, scope)).to.deep.equal(place);
      const [checksum] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as [string];
      expect(checksum).to.match(/^[0-9a-f]{16}$/);
    }
  });

  it("are the same in whichever order the filters were given", () => {
    const one = { accountId: null, filters: { client: "cli", status: 200 } };
    const other = { accountId: null, filters: { status: 200, client: "cli" } };
    expect(cursors.read(cursors.write(position, one) ?? "", other)).to.deep.equal(position);
  });

  it("are refused as a wrong parameter of the query, also where they are no text of ours", () => {
    const texts = ["", "a b", "====", "!", "e30", "bnVsbA", "W10", "_-_"];
    for (const text of texts) {
      const refused = (): unknown => cursors.read(text, scope);
      expect(refused, text).to.throw(InvalidRequestError);
      try {
        refused();
      } catch (error) {
        expect((error as InvalidRequestError).details).to.deep.include({
          issues: [{ path: "query.cursor", message: "must be next_cursor of this list, with the same filters" }],
        });
      }
    }
  });

  it("are refused with a place that no list has, whatever their checksum", () => {
    for (const place of [{ ...position, id: anId("req") }, { ...position, createdAt: 0.5 }, { createdAt: NOON }]) {
      const made = new ListCursors(digest, "generations", {
        toParts: () => Object.values(place) as (string | number)[],
        fromParts: (): object | null => null,
      });
      const cursor = made.write({}, scope) ?? "";
      expect(() => cursors.read(cursor, scope)).to.throw(InvalidRequestError);
    }
  });
});

describe("Pages of lists", () => {
  it("have one item less than was read where something follows", () => {
    expect(firstOf([3, 2, 1], 2)).to.deep.equal({ items: [3, 2], next: 2 });
    expect(firstOf([3, 2], 2)).to.deep.equal({ items: [3, 2], next: null });
    expect(firstOf([], 2)).to.deep.equal({ items: [], next: null });
  });

  it("go on behind a place: older, or of the same moment with a lower id", () => {
    const at = { createdAt: 5, id: "b" };
    const items = [
      { createdAt: 6, id: "a" },
      { createdAt: 5, id: "c" },
      { createdAt: 5, id: "b" },
      { createdAt: 5, id: "a" },
      { createdAt: 4, id: "z" },
    ];
    expect(items.filter((item) => isBehind(item, at))).to.deep.equal(items.slice(3));
    expect(items.every((item) => isBehind(item, null))).to.equal(true);
  });
});
