import type { RecordsActions } from "../audit/audit-trail.js";
import type { CollectAudio, CollectionOptions, CollectionReport } from "./collect-audio.js";

/** Stored audio, as operators clean it up; what the schedule does by itself is nobody's action. */
export class OperateAudio {
  constructor(
    private readonly collectAudio: Pick<CollectAudio, "collect">,
    private readonly audit: Pick<RecordsActions, "note">,
  ) {}

  /**
   * Finds, and unless it is a dry run deletes, what lost workers left behind. What is found is recorded before anything
   * is deleted: files are outside of every transaction, and none goes without a record.
   */
  async collect(options: CollectionOptions): Promise<CollectionReport> {
    const found = await this.collectAudio.collect({ ...options, isDryRun: true });
    if (options.isDryRun) return found;
    const fields = { orphaned_files: found.orphaned.files, orphaned_bytes: found.orphaned.bytes };
    await this.audit.note({ action: "audio.collect", accountId: null, targets: [], fields });
    return this.collectAudio.collect(options);
  }
}
