import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { FromServer, ToServer } from "./child.js";

export type ServerKind =
  | "fermata"
  | "fermata-uncounted"
  | "bare-knex"
  | "bare-prepared"
  | "bare-mysql"
  | "bare-reads"
  | "tls-receiver";

/** A server in a separate process. */
export interface Server {
  readonly url: string;
  /** Processor time used so far, in milliseconds. */
  cpuMs(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * @param given the arguments: a data directory, the URL of a storage, or both
 * @param nodeOptions for the process, such as `--cpu-prof`
 */
export async function startServer(
  kind: ServerKind,
  given: string | readonly string[],
  nodeOptions: readonly string[] = profiling(kind),
): Promise<Server> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js"; // from the sources under tsx, or compiled
  const child = fork(new URL(`./${kind}.${extension}`, import.meta.url), [given].flat(), {
    execArgv: [...process.execArgv, ...nodeOptions],
  });
  const { url } = (await response(child)) as { readonly url: string };
  return {
    url,
    async cpuMs() {
      child.send("cpu" satisfies ToServer);
      return ((await response(child)) as { readonly cpuMs: number }).cpuMs;
    },
    async stop() {
      const exited = once(child, "exit");
      child.send("stop" satisfies ToServer);
      await exited;
    },
  };
}

async function response(child: ChildProcess): Promise<FromServer> {
  const gone = new AbortController();
  const exited = once(child, "exit", { signal: gone.signal }).then(([code]) => {
    throw new Error(`A server process ended with code ${String(code)}.`);
  });
  try {
    const [message] = (await Promise.race([once(child, "message"), exited])) as [FromServer];
    return message;
  } finally {
    gone.abort();
    exited.catch(() => undefined);
  }
}

/** `FERMATA_TEST_BENCH_PROFILE=fermata` writes a CPU profile of that server to the working directory. */
function profiling(kind: ServerKind): string[] {
  return process.env["FERMATA_TEST_BENCH_PROFILE"] === kind ? ["--cpu-prof", "--cpu-prof-interval=200"] : [];
}
