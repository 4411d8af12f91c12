import { mkdir, open, readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { ArchiveFolder } from "../../core/credits/archive-ledger.js";

/** Readable by this user alone, whatever the umask. */
const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600];

/** A folder of this machine, which is made where it is missing. */
export function archiveFolder(folder: string): ArchiveFolder {
  return {
    async read(file) {
      try {
        return await readFile(join(folder, file));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw error;
      }
    },
    async append(file, text) {
      await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      const handle = await open(join(folder, file), "a", FILE_MODE);
      try {
        await handle.appendFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await syncFolder(folder);
    },
    cut: (file, bytes) => truncate(join(folder, file), bytes),
  };
}

/** So that the name of a new file is durable too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
