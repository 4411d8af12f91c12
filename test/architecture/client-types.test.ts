import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { compileFiles } from "../support/compiler.js";
import { repositoryPath } from "../support/repository.js";

/** As in the `tsconfig.json` of an app for browsers: without Node's types. */
const SETTINGS = {
  target: "ES2022",
  lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
  module: "ESNext",
  moduleResolution: "Bundler",
  strict: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
  types: [],
};

const RIGHT = `
const client = createClient({ baseUrl: "https://music.example.com", apiKey: "fk_1" });
const generation = await client.generate({ model_id: "a/b", prompt: "rain" }, { onProgress: ({ percent }) => percent });
generation.tracks.map(({ title }) => title satisfies string);
(await client.split("trk_1")).outputs satisfies readonly unknown[];
(await client.GET("/api/v1/credits")).available satisfies number;
(await client.GET("/api/v1/models")).models[0]?.id satisfies string | undefined;
await client.GET("/api/v1/generations", { params: { query: { limit: 3 } }, signal: AbortSignal.timeout(9) });
await client.POST("/api/v1/tracks", { body: new FormData() });
for await (const { logs } of client.pages("/api/v1/logs")) logs.map(({ path }) => path satisfies string);
try {
  await client.GET("/api/v1/me");
} catch (error) {
  if (error instanceof InsufficientCreditsError) error.details.required satisfies number;
  if (error instanceof FermataError) error.requestId satisfies string | null;
}
(await verifyWebhook("{}", new Headers(), "whsec_AAAA")).data.job_id satisfies string;
`;

/** Each with a part of what the compiler says of it. */
const WRONG = {
  'await client.generate({ prompt: "rain" });': "model_id",
  "await client.generate({ model_id: 7, prompt: 'rain' });": "Type 'number' is not assignable to type 'string'",
  'await client.generate({ model_id: "a/b", prompt: "rain", tempo: 90 });': "'tempo' does not exist",
  'await client.generate({ model_id: "a/b", prompt: "rain" }, { key: "k" });': "'key' does not exist",
  'await client.GET("/api/v1/songs", {});': "is not assignable to parameter",
  'await client.DELETE("/api/v1/credits", {});': "is not assignable to parameter",
  'await client.GET("/api/v1/jobs/{job_id}/events", { params: { path: { job_id: "" } } });': "is not assignable",
  'await client.GET("/api/v1/tracks/{id}");': "Expected 2 arguments",
  'await client.GET("/api/v1/tracks/{id}", { params: {} });': "path",
  'await client.GET("/api/v1/logs", { params: { query: { limit: "3" } } });': "Type 'string' is not assignable",
  'await client.POST("/api/v1/generations", { body: { model_id: "a/b", prompt: "rain" } });': "params",
  '(await client.GET("/api/v1/credits")).balance;': "Property 'balance' does not exist",
} as const;

describe("The types of the client, in an app for browsers", function () {
  this.timeout(120_000);
  let folder: string;
  let errors: readonly string[];

  const fileOf = (index: number): string => `wrong-${index}.ts`;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "fermata-client-"));
    const imported = "createClient, FermataError, InsufficientCreditsError, verifyWebhook";
    const head = `import { ${imported} } from "${repositoryPath("adapters/client/index.ts")}";\n`;
    writeFileSync(join(folder, "right.ts"), head + RIGHT);
    const client = 'const client = createClient({ baseUrl: "" });\n';
    for (const [index, code] of Object.keys(WRONG).entries())
      writeFileSync(join(folder, fileOf(index)), `${head}${client}${code}\n`);
    errors = compileFiles(folder, ["right.ts", ...Object.keys(WRONG).map((_, index) => fileOf(index))], SETTINGS);
  });
  after(() => rmSync(folder, { recursive: true }));

  it("accept right calls and the client's own sources, without types of Node", () => {
    expect(errors.filter((line) => line.includes("error TS") && !line.startsWith("wrong-"))).to.deep.equal([]);
  });

  it("refuse wrong models, options, paths, parameters and members", () => {
    for (const [index, [code, message]] of Object.entries(WRONG).entries()) {
      const first = errors.findIndex((line) => line.startsWith(`${fileOf(index)}(`));
      expect(first, code).to.be.greaterThan(-1);
      const next = errors.findIndex((line, at) => at > first && !line.startsWith(" "));
      expect(errors.slice(first, next === -1 ? undefined : next).join(" "), code).to.include(message);
    }
  });
});
