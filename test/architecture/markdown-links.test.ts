import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { REPOSITORY } from "../support/repository.js";

const isCheckout = existsSync(join(REPOSITORY, ".git"));
const FILES = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
  cwd: REPOSITORY,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter((path) => existsSync(join(REPOSITORY, path)));

const textOf = (path: string): string => readFileSync(join(REPOSITORY, path), "utf8");
const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, "");

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)|[`*]/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\- _]/gu, "")
    .replaceAll(" ", "-");

const anchorsOf = (path: string): string[] =>
  [...withoutCode(textOf(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));

/** Why a link leads nowhere; null when it leads somewhere. */
function problemOf(from: string, link: string): string | null {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? from : join(dirname(from), path);
  if (!existsSync(join(REPOSITORY, target))) return `${from}: ${link}: there is no ${target}`;
  if (anchor === undefined || statSync(join(REPOSITORY, target)).isDirectory()) return null;
  return !target.endsWith(".md") || anchorsOf(target).includes(anchor) ? null : `${from}: ${link}: no such heading`;
}

const linksOf = (text: string): string[] =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link));

describe("Links between Markdown files", () => {
  it("lead to files and headings that exist", () => {
    expect(isCheckout, "run the tests in a checkout").to.equal(true);
    const links = FILES.flatMap((path) => linksOf(textOf(path)).map((link) => [path, link] as const));
    expect(links.length).to.be.above(50);
    expect(links.map(([path, link]) => problemOf(path, link)).filter((problem) => problem !== null)).to.deep.equal([]);
  });

  it("are found to be broken when the file or the heading is missing", () => {
    expect(problemOf("README.md", "core/absent.md")).to.include("there is no core/absent.md");
    expect(problemOf("README.md", "#no-such-part")).to.include("no such heading");
    expect(problemOf("README.md", "config/README.md#stopping")).to.equal(null);
  });
});
