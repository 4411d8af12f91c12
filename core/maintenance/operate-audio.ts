import type { RecordsActions } from "../audit/audit-trail.js";
import type { CollectAudio, CollectionOptions, CollectionReport } from "./collect-audio.js";

/** Stored audio, as operators clean it up; what the schedule does by itself is nobody's action. */
export class OperateAudio {
  constructor(
    private readonly collectAudio: Pick<CollectAudio, "collect">,
    private readonly audit: Pick<RecordsActions, "note">,
  ) {}

  /** Finds, and unless it is a dry run deletes, what lost workers left behind. A run that deletes is recorded. */
  async collect(options: CollectionOptions): Promise<CollectionReport> {
    const report = await this.collectAudio.collect(options);
    if (options.isDryRun) return report;
    const { deleted, failed } = report;
    const fields = { deleted_files: deleted.files, deleted_bytes: deleted.bytes, failed_files: failed.files };
    await this.audit.note({ action: "audio.collect", accountId: null, targets: [], fields });
    return report;
  }
}
