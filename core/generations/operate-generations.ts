import type { ManageAccounts } from "../accounts/manage-accounts.js";
import { JobNotFoundError } from "../errors.js";
import type { AuditEntry } from "../ports/audit-record.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import type { Job } from "../jobs/job.js";
import { type ShownJob, shownJob } from "../jobs/shown-job.js";
import type { AcceptGeneration } from "./accept-generation.js";
import { callIdempotency } from "./call-idempotency.js";
import type { ReadGenerations } from "./read-generations.js";
import { checkGenerationInput, type GenerationInput } from "./request-rules.js";

/** The job of a generation. */
export interface OperatedGeneration extends ShownJob {
  /** The job was there under this key already; nothing was created or reserved now. */
  readonly isRepeated: boolean;
}

export interface OperateGenerationsDeps {
  readonly acceptGeneration: Pick<AcceptGeneration, "execute">;
  readonly accounts: Pick<ManageAccounts, "get">;
  readonly read: Pick<ReadGenerations, "find">;
  readonly audit: Pick<RecordsActions, "alongside">;
}

/** Creates generations for operators, by the rules of the public API, and records them in the audit log. */
export class OperateGenerations {
  constructor(private readonly deps: OperateGenerationsDeps) {}

  /**
   * @param accountId the account that pays and gets the tracks
   * @param key an idempotency key of the account, as {@link Generations.create} takes it; none by default
   * @throws {OperationRefusedError} no such account
   * @throws as {@link AcceptGeneration.execute}
   */
  async create(
    accountId: string,
    input: GenerationInput,
    { key }: { readonly key?: string | undefined } = {},
  ): Promise<OperatedGeneration> {
    const { acceptGeneration, accounts, audit } = this.deps;
    checkGenerationInput(input);
    const result = await acceptGeneration.execute({
      account: await accounts.get(accountId),
      input,
      requestId: null,
      idempotency: key === undefined ? null : callIdempotency(key, input),
      limitExceeded: null,
      alongside: audit.alongside(recordOf),
    });
    if (result.kind === "accepted") return { ...shownJob(result.job), isRepeated: false };
    const found = await this.deps.read.find(result.record.jobId);
    if (found === null) throw new JobNotFoundError();
    return { ...shownJob(found.job), isRepeated: true };
  }
}

function recordOf({ id, accountId, modelId, creditsCharged }: Job): AuditEntry {
  const fields = { model: modelId, credits: creditsCharged };
  return { action: "generations.create", accountId, targets: [id], fields };
}
