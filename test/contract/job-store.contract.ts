import type { StorageWith } from "../support/storage-under-test.js";
import { jobAttempts } from "./job-store/attempts.js";
import { jobClaims } from "./job-store/claims.js";
import { jobCounts } from "./job-store/counts.js";
import { endedJobs } from "./job-store/ends.js";
import { jobRows } from "./job-store/jobs.js";
import { jobLists } from "./job-store/lists.js";
import { shownJobs } from "./job-store/shown-jobs.js";

type Storage = StorageWith<"erasures" | "jobs" | "library">;

/**
 * The promises of every `JobStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function jobStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`JobStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    jobRows(() => storage);
    shownJobs(() => storage);
    jobLists(() => storage);
    jobClaims(() => storage);
    endedJobs(() => storage);
    jobCounts(() => storage);
    jobAttempts(() => storage);
  });
}
