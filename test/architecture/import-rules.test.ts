import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { cruise, type ICruiseOptions, type ICruiseResult, type IConfiguration } from "dependency-cruiser";
import { REPOSITORY, repositoryPath } from "../support/repository.js";

const require = createRequire(import.meta.url);
const CONFIGURATION = require(repositoryPath(".dependency-cruiser.cjs")) as IConfiguration;
const RULES = (CONFIGURATION.forbidden ?? []).map(({ name }) => name as string);

const TOP = ["core", "adapters", "plugins", "config", "test"];

/** Every folder that may contain source files; a new one is a decision, made here and in the architecture. */
const FOLDERS = [
  ...[
    "accounts",
    "admin",
    "attempts",
    "audit",
    "credits",
    "execution",
    "figures",
    "generations",
    "idempotency",
    "jobs",
    "leases",
  ].map(core),
  ...["library", "lists", "live-check", "maintenance", "ports", "ports/provider", "providers", "rate-limits"].map(core),
  ...["results", "secrets", "tracing", "usage", "webhooks"].map(core),
  /^core\/[^/]+$/,
  /^adapters\/(cli\/(caller\/)?|client\/(generated\/)?)[^/]+$/,
  /^adapters\/(cover-art|crypto|downloads|mcp|network|observability|sandbox|system)\/[^/]+$/,
  /^adapters\/http\/((admin|admin\/controllers|connections|controllers|generated|generated\/admin|generated\/web|guides|middleware|openapi)\/)?[^/]+$/,
  /^adapters\/http\/(pages|pages\/share|presenters|sessions)\/[^/]+$/,
  /^adapters\/web\/((console|docs|generated|parts|studio)\/([^/]+\/)?)?[^/]+$/,
  /^adapters\/storage\/sql\/((accounts|doctor|erasure|jobs|lease-renewal|ledger|library|library\/search)\/)?[^/]+$/,
  /^adapters\/storage\/sql\/ledger\/audit-thread\/[^/]+$/,
  /^adapters\/storage\/sql\/(migrations|mysql|sqlite|usage|webhooks)\/[^/]+$/,
  /^adapters\/(audio\/(analyser|local|s3)|queue\/(memory|rabbitmq))\/[^/]+$/,
  /^adapters\/(rate-limits\/(memory|shared)|webhooks\/https)\/[^/]+$/,
  /^plugins\/[^/]+\/([^/]+\/)?[^/]+$/,
  /^config\/((adapters|bindings|settings)\/)?[^/]+$/,
  /^test\/(adapters|api|api\/admin|api\/model|architecture|contract|plugins|security)\/[^/]+$/,
  /^test\/contract\/(music-provider|job-store|library-store|webhook-store|request-log-store)\/[^/]+$/,
  /^test\/system\/([^/]+\/)?[^/]+$/,
  /^test\/examples\/[^/]+\/[^/]+$/,
  /^test\/bench\/(servers\/)?[^/]+$/,
  /^test\/support\/((attack|doubles|fault-receiver|fuzz|outside|plugins|provider-kit|sandbox)\/)?[^/]+$/,
  /^test\/support\/(chaos|crashes(\/adapters)?|nemesis(\/rules)?|simulation|soak|vendor)\/[^/]+$/,
  /^test\/support\/(guards\/(declared\/)?|mutation\/|plugins\/[^/]+\/)[^/]+$/,
  /^test\/(fixtures|unit|use-cases)\/.+$/,
  /^test\/(index|contracts)\.ts$/,
];

/** A file that violates each rule. */
const PLANTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "core-imports-only-core": { "core/credits/planted.ts": 'import "node:fs";' },
  "jobs-import-nothing-that-follows-them": { "core/jobs/planted.ts": 'import "../webhooks/write-events.js";' },
  "adapters-import-core-and-libraries": { "adapters/http/planted.ts": 'import "../../config/settings.js";' },
  "adapters-keep-to-their-folder": { "adapters/http/planted.ts": 'import "../crypto/digest.js";' },
  "adapters-of-one-port-are-apart": { "adapters/queue/rabbitmq/planted.ts": 'import "../memory/job-queue.js";' },
  "plugins-see-only-the-sdk": { "plugins/synth/planted.ts": 'import "../../core/ports/music-provider.js";' },
  "the-sdk-sees-only-the-provider-port": { "plugins/sdk/planted.ts": 'import "../../core/errors.js";' },
  "plugins-have-no-network-of-their-own": { "plugins/synth/planted.ts": 'import "node:https";' },
  "only-config-knows-the-container": { "adapters/http/planted.ts": 'import "inversify";' },
  "only-test-imports-config": { "plugins/synth/planted.ts": 'import "../../config/settings.js";' },
  "only-test-imports-test": { "config/planted.ts": 'import "../test/support/builders.js";' },
  "only-test-imports-development-tools": { "config/planted.ts": 'import "sinon";' },
  "pages-run-in-browsers": { "adapters/web/console/planted.ts": 'import "../../http/server.js";' },
  "the-client-runs-anywhere": { "adapters/client/planted.ts": 'import "../http/server.js"; import "node:http";' },
  "mcp-calls-the-public-api": { "adapters/mcp/planted.ts": 'import "../../core/errors.js";' },
  "imports-are-declared": { "adapters/http/planted.ts": 'import "nowhere-declared";' },
  "imports-go-one-way": {
    "core/one.ts": 'import type { Two } from "./two.js"; export type One = Two;',
    "core/two.ts": 'import type { One } from "./one.js"; export type Two = One;',
  },
};

/** Alongside the planted ones: a tree that follows every rule. */
const CLEAN: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ type: "module", dependencies: { inversify: "*" }, devDependencies: { sinon: "*" } }),
  "tsconfig.json": JSON.stringify({ compilerOptions: { module: "NodeNext", moduleResolution: "NodeNext" } }),
  "node_modules/inversify/package.json": '{ "name": "inversify", "main": "index.js" }',
  "node_modules/inversify/index.js": "",
  "node_modules/sinon/package.json": '{ "name": "sinon", "main": "index.js" }',
  "node_modules/sinon/index.js": "",
  "node_modules/nowhere-declared/package.json": '{ "name": "nowhere-declared", "main": "index.js" }',
  "node_modules/nowhere-declared/index.js": "",
  "core/errors.ts": "export const e = 1;",
  "core/ports/music-provider.ts": "export const p = 1;",
  "core/webhooks/write-events.ts": 'import "../errors.js";',
  "core/credits/reserve.ts": 'import "../errors.js";',
  "adapters/http/server.ts": 'import "../../core/errors.js"; import "node:http";',
  "adapters/crypto/digest.ts": 'import "node:crypto";',
  "adapters/queue/memory/job-queue.ts": 'import "../../../core/errors.js";',
  "plugins/sdk/index.ts": 'import "../../core/ports/music-provider.js"; import "./settings.js";',
  "plugins/sdk/settings.ts": "export const s = 1;",
  "plugins/synth/index.ts": 'import "../sdk/index.js"; import "./render.js"; import "node:os";',
  "plugins/synth/render.ts": "export const r = 1;",
  "config/settings.ts": 'import "inversify"; import "../adapters/http/server.js"; import "../plugins/synth/index.js";',
  "test/support/builders.ts": 'import "sinon"; import "../../config/settings.js";',
};

async function violationsIn(directory: string): Promise<readonly string[]> {
  const options: ICruiseOptions = {
    ...CONFIGURATION.options,
    ruleSet: CONFIGURATION,
    validate: true,
    baseDir: directory,
  };
  const { output } = await cruise(TOP, options, CONFIGURATION.options?.enhancedResolveOptions ?? {});
  return (output as ICruiseResult).summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`);
}

describe("The import rules", function () {
  this.timeout(180_000);
  const trees: string[] = [];
  after(() => Promise.all(trees.map((tree) => rm(tree, { recursive: true }))));

  async function violationsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const tree = await realpath(await mkdtemp(join(tmpdir(), "fermata-imports-")));
    trees.push(tree);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(tree, path)), { recursive: true });
      await writeFile(join(tree, path), text);
    }
    return violationsIn(tree);
  }

  it("hold in this repository", async () => {
    expect(await violationsIn(REPOSITORY)).to.deep.equal([]);
  });

  it("find no violation in a tree that follows them", async () => {
    expect(await violationsOf(CLEAN)).to.deep.equal([]);
  });

  it("are each proved by a test violation", () => {
    expect(Object.keys(PLANTED)).to.deep.equal(RULES);
  });

  describe("in one tree with a violation of each", () => {
    const nameIn = (rule: string, path: string): string => path.replace("planted.ts", `${rule}.ts`);
    let found: readonly string[];
    before(async () => {
      const planted = Object.entries(PLANTED).flatMap(([rule, files]) =>
        Object.entries(files).map(([path, text]) => [nameIn(rule, path), text] as const),
      );
      found = await violationsOf({ ...CLEAN, ...Object.fromEntries(planted) });
    });

    for (const [rule, files] of Object.entries(PLANTED)) {
      it(`report that of ${rule}, with its file`, () => {
        const [path = ""] = Object.keys(files);
        expect(found.filter((line) => line.startsWith(`${rule}: `)).join("\n")).to.include(nameIn(rule, path));
      });
    }
  });
});

describe("The folders of the tree", () => {
  it("contain every source file", () => {
    const files = TOP.flatMap((top) =>
      readdirSync(repositoryPath(top), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name).slice(REPOSITORY.length + 1)),
    );
    expect(files.length).to.be.greaterThan(50);
    expect(files.filter((file) => !FOLDERS.some((folder) => folder.test(file)))).to.deep.equal([]);
  });

  it("are the only place of source files", () => {
    const known = [...TOP, ".git", ".github", ".ci", ".api", "dist", "node_modules", "coverage", "data"];
    const others = readdirSync(REPOSITORY, { withFileTypes: true }).filter(
      (entry) => (entry.isDirectory() && !known.includes(entry.name)) || /\.[mc]?tsx?$/.test(entry.name),
    );
    expect(others.map(({ name }) => name)).to.deep.equal([]);
  });
});

function core(folder: string): RegExp {
  return new RegExp(`^core/${folder}/[^/]+$`);
}
