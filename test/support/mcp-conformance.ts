/**
 * Runs the protocol checks of the Model Context Protocol against `/mcp` of a server: `npm run test:mcp`. They are
 * fetched by npx, and need Node 22 or later. They send no API key, so that a relay puts one in; and they know the tools
 * of their own example server alone, so that only the scenarios that need none of them are run.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { startTestApp } from "./test-app.js";

const PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
/** Of revisions of the protocol. */
const SCENARIOS: readonly (readonly [revision: string, scenarios: readonly string[]])[] = [
  ["2025-11-25", ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"]],
  [
    "2026-07-28",
    [
      ...["tools-list", "resources-list", "sep-2164-resource-not-found", "http-header-validation"],
      ...["dns-rebinding-protection", "server-sse-multiple-streams", "input-required-result-unsupported-methods"],
    ],
  ],
];

/** Passes everything on to `server.port`, with this key. */
function openRelay(target: { port: number; key: string }): Server {
  return createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const given = { ...headers, authorization: `Bearer ${target.key}` };
    const call = request({ host: "127.0.0.1", port: target.port, method, path, headers: given }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    outgoing.once("close", () => call.destroy());
    call.on("error", () => outgoing.destroy());
    incoming.pipe(call);
  });
}

async function passes(url: string, revision: string, scenario: string): Promise<boolean> {
  const args = ["-y", PACKAGE, "server", "--url", url, "--spec-version", revision, "--scenario", scenario];
  const [code] = (await once(spawn("npx", args, { stdio: "inherit" }), "exit")) as [number | null];
  return code === 0;
}

const target = { port: 0, key: "" };
const relay = openRelay(target).listen(0, "127.0.0.1");
await once(relay, "listening");
const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
const test = await startTestApp({ work: true, settings: { http: { port: 0, publicUrl: url } } });
const failed: string[] = [];
try {
  target.key = (await test.account()).key;
  target.port = Number(new URL(test.url).port);
  for (const [revision, scenarios] of SCENARIOS)
    for (const scenario of scenarios)
      if (!(await passes(`${url}/mcp`, revision, scenario))) failed.push(`${revision} ${scenario}`);
} finally {
  relay.closeAllConnections();
  relay.close();
  await test.close();
}
process.stdout.write(`${failed.length === 0 ? "All scenarios passed." : `Failed: ${failed.join(", ")}`}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
