import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import ts from "typescript";
import { REPOSITORY, repositoryPath } from "../support/repository.js";

/** Modules by which a process can open connections. */
const CLIENTS = /^(node:)?(http|https|http2|net|tls|dgram)$|^(undici|amqplib|mysql2|@aws-sdk\/.*)$/;

/** Files that import one of them for more than its types, and the reason. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "the guarded connections": [
    "adapters/network/addresses.ts",
    "adapters/network/guarded-agents.ts",
    "adapters/network/guarded-connector.ts",
    "adapters/network/guarded-fetch.ts",
  ],
  "clients that are given guarded connections": [
    "adapters/audio/s3/audio-store.ts",
    "adapters/audio/s3/client.ts",
    "adapters/audio/s3/doctor.ts",
    "adapters/audio/s3/upload.ts",
    "adapters/downloads/downloads.ts",
    "adapters/webhooks/https/connections.ts",
  ],
  "servers, and the reading of addresses": [
    "adapters/http/server.ts",
    "adapters/http/metrics-server.ts",
    "config/doctor-proxies.ts",
    "config/settings/network-values.ts",
  ],
  "connections in memory, to the router of the same process": ["adapters/http/in-process.ts"],
  "what disables them in a child process": ["adapters/sandbox/disable-network.ts"],
  "the broker of queue.url": ["adapters/queue/rabbitmq/connection.ts", "adapters/queue/rabbitmq/doctor.ts"],
};

interface Found {
  readonly clients: readonly string[];
  readonly calls: readonly string[];
  readonly environment: readonly string[];
}

/** Uses of the network and the environment by a source file: imported values, a global `fetch`, `process.env`. */
function look(path: string, text: string): Found {
  const found = { clients: [] as string[], calls: [] as string[], environment: [] as string[] };
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const declared = new Set<string>();
  const client = (specifier: ts.Node | undefined): void => {
    if (specifier !== undefined && ts.isStringLiteral(specifier) && CLIENTS.test(specifier.text))
      found.clients.push(specifier.text);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && !isOfTypes(node)) client(node.moduleSpecifier);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) client(node.arguments[0]);
    if (ts.isBindingElement(node) || ts.isParameter(node) || ts.isVariableDeclaration(node))
      declared.add(node.name.getText());
    if (ts.isIdentifier(node) && node.text === "fetch" && isValue(node)) found.calls.push(node.parent.getText());
    if (ts.isPropertyAccessExpression(node) && node.getText() === "process.env") found.environment.push(node.getText());
    ts.forEachChild(node, visit);
  };
  visit(source);
  return declared.has("fetch") ? { ...found, calls: [] } : found;
}

function isOfTypes({ importClause }: ts.ImportDeclaration): boolean {
  if (importClause === undefined) return false;
  const { isTypeOnly, name, namedBindings } = importClause;
  if (isTypeOnly) return true;
  return (
    name === undefined &&
    namedBindings !== undefined &&
    ts.isNamedImports(namedBindings) &&
    namedBindings.elements.every((one) => one.isTypeOnly)
  );
}

/** The name as a value: not a member, not a type, not a declaration. */
function isValue(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.getText().startsWith("globalThis.");
  if (ts.isCallExpression(parent)) return parent.expression === node || parent.arguments.includes(node);
  return (ts.isPropertyAssignment(parent) && parent.initializer === node) || ts.isShorthandPropertyAssignment(parent);
}

function sources(...tops: readonly string[]): string[] {
  return tops.flatMap((top) =>
    readdirSync(repositoryPath(top), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => join(entry.parentPath, entry.name).slice(REPOSITORY.length + 1))
      // The pages run in browsers, under a policy that lets them reach this server alone.
      .filter((path) => !path.startsWith("adapters/web/")),
  );
}

const lookAt = (path: string): Found => look(path, readFileSync(repositoryPath(path), "utf8"));

describe("One way out", () => {
  it("is the guarded connector: no other source file opens connections", () => {
    const importing = sources("core", "adapters", "plugins", "config").filter(
      (path) => lookAt(path).clients.length > 0,
    );
    expect(importing.filter((path) => !path.startsWith("adapters/storage/sql/")).sort()).to.deep.equal(
      Object.values(ALLOWED).flat().sort(),
    );
  });

  it("is the only fetch: the guarded one calls Node's, and commands for callers go where their user says", () => {
    const calling = sources("core", "adapters", "plugins", "config").filter((path) => lookAt(path).calls.length > 0);
    expect(calling).to.deep.equal(["adapters/network/guarded-fetch.ts", "config/caller-host.ts", "config/mcp.ts"]);
  });

  it("leaves plugins without the environment and without a client of their own", () => {
    const files = sources("plugins");
    expect(files.length).to.be.greaterThan(50);
    for (const path of files) expect(lookAt(path), path).to.deep.equal({ clients: [], calls: [], environment: [] });
  });

  it("is checked by rules that find their targets", () => {
    const planted = [
      'import http from "node:http";',
      'import type { Agent } from "undici";',
      'const { Client } = await import("undici");',
      "const key = process.env.KEY;",
      'await fetch("https://vendor.example");',
      "new Api({ fetch });",
      "host.fetch(url); start({ fetch: host.fetch });",
    ].join("\n");
    expect(look("planted.ts", planted)).to.deep.equal({
      clients: ["node:http", "undici"],
      calls: ['fetch("https://vendor.example")', "fetch"],
      environment: ["process.env"],
    });
    expect(look("given.ts", "function call({ fetch }) { return fetch(url); }").calls).to.deep.equal([]);
  });
});
