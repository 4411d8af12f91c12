import type { ManageAccounts } from "../accounts/manage-accounts.js";
import { assert } from "../assert.js";
import type { AuditEntry } from "../ports/audit-record.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import type { Job } from "../jobs/job.js";
import { type ShownJob, shownJob } from "../jobs/shown-job.js";
import type { AcceptGeneration } from "./accept-generation.js";
import type { GenerationInput } from "./request-rules.js";

export interface OperateGenerationsDeps {
  readonly acceptGeneration: Pick<AcceptGeneration, "execute">;
  readonly accounts: Pick<ManageAccounts, "get">;
  readonly audit: Pick<RecordsActions, "alongside">;
}

/** Creates generations for operators, by the rules of the public API, and records them in the audit log. */
export class OperateGenerations {
  constructor(private readonly deps: OperateGenerationsDeps) {}

  /**
   * @param accountId the account that pays and gets the tracks
   * @throws {OperationRefusedError} no such account
   * @throws as {@link AcceptGeneration.execute}
   */
  async create(accountId: string, input: GenerationInput): Promise<ShownJob> {
    const { acceptGeneration, accounts, audit } = this.deps;
    const result = await acceptGeneration.execute({
      account: await accounts.get(accountId),
      input,
      requestId: null,
      idempotency: null,
      limitExceeded: null,
      alongside: audit.alongside(recordOf),
    });
    assert(result.kind === "accepted", "without an idempotency key there is no recorded response");
    return shownJob(result.job);
  }
}

function recordOf({ id, accountId, modelId, creditsCharged }: Job): AuditEntry {
  const fields = { model: modelId, credits: creditsCharged };
  return { action: "generations.create", accountId, targets: [id], fields };
}
