import { fileURLToPath } from "node:url";
import { ApiClient } from "../api-client.js";
import type { Environment, Sandbox } from "../process.js";
import { AttackTarget } from "./target.js";

/** A server process with an account whose owner is malicious. */
export interface AttackedInstallation {
  readonly dataDir: string;
  readonly target: AttackTarget;
  readonly account: string;
  readonly api: ApiClient;
  /** The process's output so far. */
  written(): string;
  /** Runs a command of the operator that succeeds, while the server runs. */
  run<T>(...args: readonly string[]): Promise<T>;
}

export async function attackedInstallation(sandbox: Sandbox, env: Environment = {}): Promise<AttackedInstallation> {
  const dataDir = await sandbox.dataDir();
  const run = <T>(...args: readonly string[]): Promise<T> => sandbox.json<T>(args, dataDir);
  await run("migrate");
  const options = ["--tier", "pro", "--credits", "1000", "--accept-terms"];
  const { id: account } = await run<{ id: string }>("accounts", "create", "mallory", ...options);
  const { key } = await run<{ key: string }>("keys", "issue", account);
  const fermata = sandbox.spawn(["start"], dataDir, { FERMATA_DEMO__ENABLED: "false", ...env });
  const target = new AttackTarget(fermata, await fermata.listening());
  const written = (): string => fermata.stdout + fermata.stderr;
  return { dataDir, target, account, api: new ApiClient(target.url, key), written, run };
}

/** Settings under which a process loads the hostile provider. @param folder where the files are that it returns */
export function hostileProvider(folder: string): Record<string, string> {
  return {
    FERMATA_PLUGINS__SYNTH__ENABLED: "false",
    FERMATA_PLUGINS__HOSTILE__ENABLED: "true",
    FERMATA_PLUGINS__HOSTILE__USE: fileURLToPath(new URL("../plugins/hostile/index.js", import.meta.url)),
    FERMATA_PLUGINS__HOSTILE__FOLDER: folder,
  };
}
