import type { Session } from "../session.js";

/** What a server says of itself, as far as it decides whether it is used. */
export interface ServerState {
  /** Why it cannot be written; null: it takes writes. */
  readonly refusal: string | null;
  /** Which cluster, any member of which may be written, it belongs to; null: none. */
  readonly cluster: string | null;
}

interface Variable {
  readonly Variable_name: string;
  readonly Value: string;
}

const VARIABLES =
  "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'super_read_only', 'wsrep_on', " +
  "'group_replication_group_name')";

/** A server without Galera has these too. A node that is not ready responds to SHOW and SET, and to no SELECT. */
const GALERA =
  "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status', 'wsrep_cluster_state_uuid')";

/**
 * Reads wait until this node has applied what others committed before, and so does the begin of a transaction: what a
 * caller has written through one node is found through every other.
 */
const WAIT_FOR_OTHERS = "SET SESSION wsrep_sync_wait = 1";

/** Reads the server's state by a new session, and makes the session one of a member of a cluster where it is one. */
export async function joinServer(session: Session): Promise<ServerState> {
  const state = await readState(session);
  if (state.refusal === null && state.isGalera) await session.run(WAIT_FOR_OTHERS);
  return state;
}

/** Reads what may have changed since. */
export async function readState(session: Session): Promise<ServerState & { readonly isGalera: boolean }> {
  const variables = valuesOf(await session.all<Variable>(VARIABLES));
  const isGalera = isOn(variables.get("wsrep_on"));
  const status = isGalera ? valuesOf(await session.all<Variable>(GALERA)) : new Map<string, string>();
  const group = variables.get("group_replication_group_name") ?? "";
  return {
    refusal: refusalOf(variables, isGalera ? status : null),
    cluster: isGalera ? (status.get("wsrep_cluster_state_uuid") ?? "") : group === "" ? null : group,
    isGalera,
  };
}

function refusalOf(variables: ReadonlyMap<string, string>, galera: ReadonlyMap<string, string> | null): string | null {
  if (isOn(variables.get("super_read_only"))) return "it only reads (super_read_only is on)";
  if (isOn(variables.get("read_only"))) return "it only reads (read_only is on)";
  if (galera === null) return null;
  const status = galera.get("wsrep_cluster_status") ?? "unknown";
  if (status !== "Primary") return `it is in no majority of its Galera cluster (wsrep_cluster_status is ${status})`;
  if (!isOn(galera.get("wsrep_ready"))) return "its Galera node is not ready (wsrep_ready is OFF)";
  return null;
}

/** MariaDB 12 has kinds of `read_only`, each of which refuses our writes. */
function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== "OFF" && value !== "0";
}

function valuesOf(rows: readonly Variable[]): Map<string, string> {
  return new Map(rows.map(({ Variable_name, Value }) => [Variable_name.toLowerCase(), Value]));
}
