import type { Container } from "inversify";
import { AuditTrail } from "../../core/audit/audit-trail.js";
import { ReadAudit } from "../../core/audit/read-audit.js";
import { TOKENS as T } from "../tokens.js";

const ACTOR_MAX_LENGTH = 100;

/**
 * What operators do, and who they are.
 *
 * @throws {Error} a name of another length
 */
export function bindAudit(container: Container, actor = "app"): void {
  if (actor.length < 1 || actor.length > ACTOR_MAX_LENGTH || !actor.isWellFormed()) {
    throw new Error(`An actor's name has 1 to ${ACTOR_MAX_LENGTH} characters.`);
  }
  container
    .bind(T.audit)
    .toResolvedValue(
      (auditLog, unitOfWork, clock, ids, digest) => new AuditTrail({ auditLog, unitOfWork, clock, ids, digest, actor }),
      [T.auditLog, T.unitOfWork, T.clock, T.ids, T.digest],
    );
  container
    .bind(T.readAudit)
    .toResolvedValue((auditLog, digest) => new ReadAudit(auditLog, digest), [T.auditLog, T.digest]);
}
