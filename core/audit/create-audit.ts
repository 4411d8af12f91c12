import type { CorePorts } from "../ports/core-ports.js";
import type { CoreOptions } from "../core-options.js";
import { type Actor, AuditTrail } from "./audit-trail.js";
import { ReadAudit } from "./read-audit.js";

const ACTOR_MAX_LENGTH = 100;

export interface Audit {
  readonly trail: AuditTrail;
  readonly read: ReadAudit;
}

/**
 * The record of what operators do, and of who they are.
 *
 * @throws {Error} a name of another length
 */
export function createAudit(ports: CorePorts, actor: CoreOptions["actor"]): Audit {
  if (typeof actor === "string") checkName(actor);
  const acting = typeof actor === "string" ? (): Actor => ({ name: actor, why: null }) : actor;
  return {
    trail: new AuditTrail({ ...ports, actor: acting }),
    read: new ReadAudit({ auditLog: ports.auditLog, digest: ports.digest }),
  };
}

function checkName(name: string): void {
  if (name.length >= 1 && name.length <= ACTOR_MAX_LENGTH && name.isWellFormed()) return;
  throw new Error(`An actor's name has 1 to ${ACTOR_MAX_LENGTH} characters.`);
}
