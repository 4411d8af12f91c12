import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import * as source from "../../../adapters/client/index.js";
import { repositoryPath } from "../../support/repository.js";

const BUNDLE = repositoryPath("adapters/client/generated/client.js");
const MAX_BYTES = 8_000;

describe("The bundle of the client", () => {
  it("has at most 8 kB, compressed", () => {
    expect(gzipSync(readFileSync(BUNDLE)).length).to.be.within(1_000, MAX_BYTES);
  });

  it("imports nothing, and exports what its source exports", async () => {
    expect(readFileSync(BUNDLE, "utf8")).to.not.match(/\bimport\b|\brequire\(/);
    const bundled = (await import(BUNDLE)) as typeof source;
    expect(Object.keys(bundled)).to.have.members(Object.keys(source));
    expect(new bundled.InsufficientCreditsError("", { code: "insufficient_credits" }).name).to.equal(
      "InsufficientCreditsError",
    );
  });

  it("comes with the licences of what it contains", () => {
    const licences = readFileSync(repositoryPath("adapters/client/generated/licences.txt"), "utf8");
    expect([...licences.matchAll(/^(\S+) \S+ \(MIT\)$/gm)].map(([, name]) => name)).to.deep.equal([
      "eventsource-parser",
      "openapi-fetch",
    ]);
  });
});
