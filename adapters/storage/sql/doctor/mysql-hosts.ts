import { type CheckResult, ok, warning } from "../../../../core/ports/self-check.js";
import { openConnection, reasonOf } from "../mysql/hosts.js";
import { hostsOf, MYSQL_LIMITS, type MysqlHost, sessionSetup } from "../mysql/options.js";
import { readState, type ServerState } from "../mysql/server-state.js";
import { MysqlSession } from "../mysql/session.js";

/** A host as it was found: with its state, or why it has none. */
interface Found {
  readonly host: MysqlHost;
  readonly state: ServerState | null;
  readonly problem: string | null;
}

/**
 * A line for each of several hosts: which one a start would use, and why it would not use the others. None for a
 * single host, which `mysql connection` is about.
 */
export async function checkMysqlHosts(target: string): Promise<CheckResult[]> {
  const hosts = hostsOf(target);
  if (hosts.length === 1) return [];
  return classifyHosts(await Promise.all(hosts.map(find)));
}

async function find(host: MysqlHost): Promise<Found> {
  try {
    const connection = await openConnection(host.options, sessionSetup(1), MYSQL_LIMITS.firstMs);
    try {
      const session = new MysqlSession(connection, { limitMs: MYSQL_LIMITS.statementMs });
      return { host, state: await readState(session), problem: null };
    } finally {
      connection.destroy();
    }
  } catch (error) {
    return { host, state: null, problem: reasonOf(error as Error) };
  }
}

function classifyHosts(found: readonly Found[]): CheckResult[] {
  const used = found.find(({ state }) => state?.refusal === null);
  return found.map((one) => classify(one, used ?? null));
}

function classify(found: Found, used: Found | null): CheckResult {
  const { host, state, problem } = found;
  const name = `mysql host ${host.place}`;
  if (state === null)
    return warning(
      name,
      `Not used: it lets no session in (${problem?.replace(/\.$/, "")}).`,
      "Start it, or correct it in storage.url: it cannot take over from another host.",
    );
  if (found === used) return ok(name, "Used: it is the first that takes writes.");
  if (state.refusal !== null) {
    const message = `Not used: ${state.refusal}.`;
    return state.refusal.startsWith("it only reads")
      ? ok(name, message)
      : warning(name, message, "See the server's log for why it has not joined the others.");
  }
  if (state.cluster !== null && state.cluster === used?.state?.cluster)
    return ok(name, `Not used: ${used.host.place} comes before it. It takes over when that is away.`);
  return warning(
    name,
    `Not used: ${used?.host.place} comes before it. It takes writes as well, and is of no cluster with that one: ` +
      "writes that a failover sends to it are on that server alone.",
    "Set read_only = ON on every server that is a replica, in its configuration as well.",
  );
}
