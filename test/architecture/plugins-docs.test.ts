import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { BUILT_IN } from "../../config/plugins.js";
import { repositoryPath } from "../support/repository.js";

const read = (path: string): string => readFileSync(repositoryPath(path), "utf8");

describe("The README of plugins", () => {
  it("names every built-in plugin, and no other", () => {
    const named = [...read("plugins/README.md").matchAll(/^\| \[`([a-z0-9-]+)`\]\(\1\/README\.md\) \|/gm)].map(
      ([, id]) => id,
    );
    expect(named).to.deep.equal(Object.keys(BUILT_IN));
  });
});

for (const [id, load] of Object.entries(BUILT_IN)) {
  describe(`The README of ${id}`, () => {
    it("names every setting, every model and every option of a model", async () => {
      const path = `plugins/${id}/README.md`;
      expect(existsSync(repositoryPath(path))).to.equal(true);
      const readme = read(path);
      const { settings, models } = (await load()).default;
      const options = models.flatMap(({ requestOptions = {} }) => Object.keys(requestOptions));
      const names = new Set([...Object.keys(settings), ...models.map((model) => model.id), ...options]);
      const missing = [...names].filter((name) => !readme.includes(`\`${name}\``));
      expect(missing).to.deep.equal([]);
    });
  });
}
