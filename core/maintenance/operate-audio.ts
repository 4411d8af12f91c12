import type { RecordsActions } from "../audit/audit-trail.js";
import type { CollectAudio, CollectionOptions, CollectionReport } from "./collect-audio.js";

export interface OperateAudioDeps {
  readonly collectAudio: Pick<CollectAudio, "collect">;
  readonly audit: Pick<RecordsActions, "note">;
}

/** Deletes orphaned audio for operators and records it in the audit log; scheduled runs are not recorded. */
export class OperateAudio {
  constructor(private readonly deps: OperateAudioDeps) {}

  /**
   * Finds, and unless it is a dry run deletes, what lost workers left behind. What is found is recorded before anything
   * is deleted: files are outside of every transaction, and none goes without a record.
   */
  async collect(options: CollectionOptions): Promise<CollectionReport> {
    const found = await this.deps.collectAudio.collect({ ...options, isDryRun: true });
    if (options.isDryRun) return found;
    const fields = { orphaned_files: found.orphaned.files, orphaned_bytes: found.orphaned.bytes };
    await this.deps.audit.note({ action: "audio.collect", accountId: null, targets: [], fields });
    return this.deps.collectAudio.collect(options);
  }
}
