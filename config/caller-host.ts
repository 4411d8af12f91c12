import { homedir } from "node:os";
import { createInterface } from "node:readline";
import type { CallerHost } from "../adapters/cli/caller/caller-host.js";
import { askOn } from "./confirm.js";
import { ECHO_MS, type SignalledProcess } from "./stop-signal.js";

type CallerProcess = Pick<NodeJS.Process, "env" | "stdin" | "stderr" | "cwd"> & SignalledProcess;

/** What the commands for callers get of the process. They go to the server that their user names, wherever it is. */
export function callerHost(process: CallerProcess): CallerHost {
  return {
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    home: process.env["HOME"] ?? homedir(),
    ask: askOn(process),
    readLine: () => firstLineOf(process.stdin),
    onInterrupt: (listener) => onInterrupt(process, listener),
    connect: async (server) => {
      const { openCallerApi } = await import("./caller-api.js");
      return openCallerApi(server, fetch);
    },
    fetch,
    signWebhook: async ({ eventId, body, secret }) => {
      const { signedHeaders } = await import("../adapters/webhooks/https/signature.js");
      return signedHeaders({ eventId, sentAt: Date.now(), body, secrets: [secret] });
    },
  };
}

async function firstLineOf(stdin: NodeJS.ReadableStream): Promise<string | null> {
  const lines = createInterface({ input: stdin, crlfDelay: Infinity });
  for await (const line of lines) return line;
  return null;
}

function onInterrupt(process: SignalledProcess, listener: (signal: "SIGINT" | "SIGTERM") => void): () => void {
  const names = ["SIGINT", "SIGTERM"] as const;
  let receivedAt = -Infinity;
  const receive = (name: string): void => {
    const now = performance.now();
    const isEcho = now - receivedAt < ECHO_MS;
    if (isEcho) return;
    receivedAt = now;
    listener(name === "SIGTERM" ? name : "SIGINT");
  };
  for (const name of names) process.on(name, receive);
  return () => names.forEach((name) => void process.off(name, receive));
}
