import { type CheckResult, failed, ok, warning } from "fermata-music";
import { Connection } from "./connection.js";

/** The first whose XAUTOCLAIM forgets entries that are no longer in the stream. */
const VERSION_MIN = 7;

/** What `fermata doctor` shows. */
export async function checkRedis(url: string): Promise<readonly CheckResult[]> {
  const connection = new Connection(url);
  try {
    const info = await connection.use((client) => client.info());
    return [checkVersion(info), checkMemory(info)];
  } catch (error) {
    const message = `Redis cannot be used: ${reasonOf(error)}.`;
    return [failed("redis", message, "Start Redis, or correct queue.url.")];
  } finally {
    connection.close();
  }
}

function checkVersion(info: string): CheckResult {
  const version = valueOf(info, "redis_version");
  if (parseInt(version, 10) >= VERSION_MIN) return ok("redis", `Redis ${version} responds.`);
  return failed("redis", `Redis ${version} is too old.`, `Install Redis ${VERSION_MIN} or later.`);
}

function checkMemory(info: string): CheckResult {
  const [bytes, policy] = [valueOf(info, "maxmemory"), valueOf(info, "maxmemory_policy")];
  // `volatile-…` evicts only keys that expire, which streams do not.
  if (bytes === "0" || !policy.startsWith("allkeys-")) return ok("redis memory", "Redis evicts no stream.");
  return warning(
    "redis memory",
    `Redis evicts streams above ${bytes} bytes (maxmemory-policy ${policy}): notifications get lost.`,
    "Set maxmemory-policy to noeviction, or to one of the volatile policies.",
  );
}

function valueOf(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
}

/** Connecting to a name with several addresses fails with an error without a text, but with a code. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return (message === "" ? (code ?? "no response") : message).replace(/\.$/, "");
}
