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
export function createAudit(ports: CorePorts, { actor, acting }: Pick<CoreOptions, "actor" | "acting">): Audit {
  if (actor.length < 1 || actor.length > ACTOR_MAX_LENGTH || !actor.isWellFormed()) {
    throw new Error(`An actor's name has 1 to ${ACTOR_MAX_LENGTH} characters.`);
  }
  const byDefault: Actor = { name: actor, why: null };
  return {
    trail: new AuditTrail({ ...ports, actor: () => acting?.() ?? byDefault }),
    read: new ReadAudit({ auditLog: ports.auditLog, digest: ports.digest }),
  };
}
