import type { MaintenanceTask } from "../maintenance/maintenance.js";
import type { AudioStore } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import type { ErasureStore } from "../ports/erasure-store.js";
import type { Logger } from "../ports/logger.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";

export interface DeleteFilesDeps {
  readonly erasures: Pick<ErasureStore, "noteFiles" | "dueFiles" | "postponeFiles" | "forgetFiles">;
  readonly audio: Pick<AudioStore, "delete">;
  readonly unitOfWork: Pick<UnitOfWork, "inTransaction">;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const DELETE_FILES_TASK = "delete-files";
const EVERY_MS = 5_000;
/** The process that noted files deletes them itself; it is given up after this. */
export const OWN_DELETION_MS = 60_000;
/** Files that cannot be deleted now are tried again after this. */
const RETRY_MS = 60_000;
const FILES = 200;
/** Deletions under way at once. */
const DELETIONS_MAX = 8;

/**
 * Deletes files of which the rows are gone: they are noted in the transaction that deletes the rows, so that whatever
 * process is lost after it, another one finds and deletes them.
 */
export class DeleteFiles {
  constructor(private readonly deps: DeleteFilesDeps) {}

  task(): MaintenanceTask {
    return {
      id: DELETE_FILES_TASK,
      description: "Deletes the files of deleted tracks where the process that deleted them was lost.",
      everyMs: EVERY_MS,
      run: (signal) => this.run(signal),
    };
  }

  /** To be followed by {@link deleteNoted} once `tx` is committed. */
  note(tx: Transaction, audioKeys: readonly string[]): Promise<void> {
    return this.deps.erasures.noteFiles(tx, audioKeys, this.deps.clock.now() + OWN_DELETION_MS);
  }

  /** Never fails: what cannot be deleted now is deleted by the task. */
  async deleteNoted(audioKeys: readonly string[]): Promise<void> {
    try {
      await this.delete(audioKeys);
    } catch (error) {
      this.deps.logger.warn("Deleted files could not be forgotten; that will be retried", { error });
    }
  }

  private async run(signal: AbortSignal): Promise<void> {
    const { erasures, clock } = this.deps;
    while (!signal.aborted) {
      const due = await erasures.dueFiles(clock.now(), FILES);
      if (due.length === 0) return;
      await this.delete(due);
    }
  }

  private async delete(audioKeys: readonly string[]): Promise<void> {
    const { audio, erasures, unitOfWork, clock, logger } = this.deps;
    const deleted: string[] = [];
    const failures = new Map<string, unknown>();
    const left = audioKeys.values();
    const deleteLeft = async (): Promise<void> => {
      for (const key of left) {
        try {
          await audio.delete(key);
          deleted.push(key);
        } catch (error) {
          failures.set(key, error);
        }
      }
    };
    await Promise.all(Array.from({ length: DELETIONS_MAX }, deleteLeft));
    for (const [audioKey, error] of [...failures].slice(0, 1)) {
      const about = { error, files: failures.size, audio_key: audioKey };
      logger.warn("Files of deleted tracks could not be deleted; that will be retried", about);
    }
    await unitOfWork.inTransaction(async (tx) => {
      await erasures.forgetFiles(tx, deleted);
      await erasures.postponeFiles(tx, [...failures.keys()], clock.now() + RETRY_MS);
    });
  }
}
