import type { AccountId, JobId, TrackId } from "../../../../core/ids.js";
import type { JobOutput, JobState } from "../../../../core/jobs/job.js";
import type { JobStore } from "../../../../core/ports/job-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import { groupBy } from "../lists.js";
import { allOf, oneOf } from "../rows.js";
import { columnsOf, sessionOf } from "../session.js";
import { AttemptQueries } from "./attempt-queries.js";
import { JOB_OUTPUTS, type JobStateRow, type OutputRow, toOutput } from "./job-tables.js";

const LIST_OUTPUTS = `SELECT ${columnsOf(JOB_OUTPUTS)} FROM {job_outputs} WHERE job_id = ? ORDER BY position`;
const LIVE_FROM = `SELECT j.id, j.account_id FROM {job_sources} s JOIN {jobs} j ON j.id = s.job_id
  WHERE s.track_id = ? AND j.status IN ('queued', 'processing') LIMIT 1`;
/** A CROSS JOIN keeps SQLite from beginning with the jobs of the account: those from one track are few. */
const SPLITS_OF = `SELECT j.id FROM {job_sources} s CROSS JOIN {jobs} j ON j.id = s.job_id
  WHERE s.track_id = ? AND j.account_id = ? AND j.kind <> 'music'`;
const DELETE_OUTPUTS = "DELETE FROM {job_outputs} WHERE job_id = ?";

type OutputMethods = "insertOutputs" | "outputsOf" | "liveJobFrom" | "deleteSplitOutputs";

/** The files of splits, and the tracks that jobs work from. */
export class OutputQueries extends AttemptQueries implements Pick<JobStore, OutputMethods> {
  async insertOutputs(
    tx: Transaction,
    created: readonly { readonly jobId: JobId; readonly outputs: readonly JobOutput[] }[],
  ): Promise<void> {
    const rows = created.flatMap(({ jobId, outputs }) =>
      outputs.map((output, position) => JOB_OUTPUTS.toRow({ ...output, jobId, position })),
    );
    await sessionOf(tx).insert(JOB_OUTPUTS, rows);
  }

  async liveJobFrom(tx: Transaction, trackId: TrackId): Promise<Pick<JobState, "id" | "accountId"> | null> {
    type Row = Pick<JobStateRow, "id" | "account_id">;
    return oneOf(sessionOf(tx), LIVE_FROM, [trackId], ({ id, account_id: accountId }: Row) => ({ id, accountId }));
  }

  async deleteSplitOutputs(tx: Transaction, trackId: TrackId, accountId: AccountId): Promise<JobOutput[]> {
    const session = sessionOf(tx);
    const splits = await session.all<Pick<JobStateRow, "id">>(SPLITS_OF, [trackId, accountId]);
    const lists = splits.map(({ id }) => [id]);
    const outputs = await session.allEach<OutputRow>(LIST_OUTPUTS, lists);
    await session.runEach(DELETE_OUTPUTS, lists);
    return outputs.map(toOutput);
  }

  async outputsOf(jobIds: readonly JobId[]): Promise<Map<JobId, JobOutput[]>> {
    const rows = await this.database.reading((session) => allOf<OutputRow>(session, LIST_OUTPUTS, jobIds));
    const outputs = [...groupBy(rows, (row) => row.job_id)];
    return new Map(outputs.map(([jobId, ofJob]) => [jobId, ofJob.map(toOutput)]));
  }
}
