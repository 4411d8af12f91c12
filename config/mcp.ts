import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { McpOptions } from "../adapters/cli/host.js";
import { SettingsError } from "./settings/issues.js";
import { nextStopSignal, type SignalledProcess } from "./stop-signal.js";
import { packageVersion } from "./version.js";

type McpProcess = Pick<NodeJS.Process, "env" | "stdin" | "stdout" | "stderr" | "cwd"> & SignalledProcess;

const DEFAULT_URL = "http://127.0.0.1:8080";
const DEFAULT_CONFIRM_ABOVE = 100;
const RETRY_FOR_MS = 10_000;

/**
 * Serves an MCP client over stdin and stdout, until it goes or a signal comes. Nothing of this installation is used:
 * the server may be any other.
 *
 * @throws {SettingsError} there is no key, or the address is none
 */
export async function serveMcp(options: McpOptions, process: McpProcess): Promise<void> {
  const issues: string[] = [];
  const baseUrl = addressIn(options.url ?? process.env["FERMATA_URL"] ?? DEFAULT_URL, issues);
  const key = await keyIn(options, process, issues);
  const confirmAbove = options.confirmAbove ?? creditsIn(process.env["FERMATA_MCP__CONFIRM_ABOVE"], issues);
  if (issues.length > 0) throw new SettingsError(issues);
  const { serveOverStdio } = await import("../adapters/mcp/stdio.js");
  const stop = new AbortController();
  const signal = nextStopSignal(process, 0, () => undefined);
  void signal.received.then(() => stop.abort());
  try {
    await serveOverStdio({
      stdin: process.stdin,
      stdout: process.stdout,
      stop: stop.signal,
      version: packageVersion(),
      confirmAbove,
      // A client gives a call up after a minute; no other address gets the key.
      api: {
        ...{ baseUrl, apiKey: key, retryForMs: RETRY_FOR_MS },
        fetch: (input, init) => fetch(input, { ...init, redirect: "error" }),
      },
      // stdout is the client's.
      onError: (error) => process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`),
    });
  } finally {
    signal.forget();
    // A terminal, or a client that keeps its end open, would keep the process.
    process.stdin.pause();
  }
}

function addressIn(text: string, issues: string[]): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "") {
    issues.push("--url or FERMATA_URL: must be an http or https address without a user or password");
    return "";
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

async function keyIn({ keyFile }: McpOptions, { env, cwd }: McpProcess, issues: string[]): Promise<string> {
  let key = env["FERMATA_API_KEY"] ?? "";
  if (keyFile !== undefined) {
    key = await readFile(resolve(cwd(), keyFile), "utf8").catch((error: NodeJS.ErrnoException) => {
      issues.push(`--key-file: ${keyFile} cannot be read (${error.code ?? error.message})`);
      return "unreadable";
    });
  }
  // A header takes no other characters.
  if (!/^[\x21-\x7e]+$/.test(key.trim())) issues.push("FERMATA_API_KEY, or the file of --key-file: must be an API key");
  return key.trim();
}

function creditsIn(text: string | undefined, issues: string[]): number {
  if (text === undefined) return DEFAULT_CONFIRM_ABOVE;
  if (!/^\d{1,9}$/.test(text)) issues.push("FERMATA_MCP__CONFIRM_ABOVE: must be a whole number of credits");
  return Number(text);
}
