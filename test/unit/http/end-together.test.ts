import { setImmediate as nextTurn } from "node:timers/promises";
import type { Response } from "express";
import { expect } from "chai";
import { endTogether } from "../../../adapters/http/end-together.js";

/** As much of a response as is used; it takes content once, as a real one does. */
class Ended {
  writableEnded = false;
  constructor(private readonly contents: string[]) {}

  end(content: string): void {
    this.writableEnded = true;
    this.contents.push(content);
  }
}

describe("Responses that are made in one turn", () => {
  const make = (contents: string[]): Response => new Ended(contents) as unknown as Response;

  it("leave at its end, in their order", async () => {
    const contents: string[] = [];
    for (const content of ["one", "two", "three"]) endTogether(make(contents), content);
    await Promise.resolve();
    expect(contents).to.deep.equal([]);
    await nextTurn();
    expect(contents).to.deep.equal(["one", "two", "three"]);
    endTogether(make(contents), "four");
    await nextTurn();
    expect(contents.at(-1)).to.equal("four");
  });

  it("leave at once where they are sixteen, and the next ones later", async () => {
    const contents: string[] = [];
    for (let made = 1; made <= 18; made++) endTogether(make(contents), String(made));
    expect(contents).to.have.length(16);
    await nextTurn();
    expect(contents.slice(16)).to.deep.equal(["17", "18"]);
  });

  it("are left out where something else has ended them", async () => {
    const contents: string[] = [];
    const response = make(contents);
    endTogether(response, "late");
    response.end("gone");
    await nextTurn();
    expect(contents).to.deep.equal(["gone"]);
  });
});
