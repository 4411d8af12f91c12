import { chmod, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Rights of group and others. */
export const OPEN_TO_OTHERS = 0o077;

/**
 * Takes group's and others' rights to a directory back, and to the files and directories right in it. What another user
 * owns, and symbolic links, are left alone.
 *
 * @returns the paths whose rights were changed
 */
export async function closeToOthers(directory: string): Promise<string[]> {
  const changed: string[] = [];
  for (const path of [directory, ...(await readdir(directory)).map((name) => join(directory, name))]) {
    const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
      // SQLite's companion files come and go with the processes that use them.
      if (error.code === "ENOENT") return null;
      throw error;
    });
    if (found === null || !(found.isFile() || found.isDirectory())) continue;
    if (found.uid !== process.getuid?.() || (found.mode & OPEN_TO_OTHERS) === 0) continue;
    await chmod(path, found.mode & 0o777 & ~OPEN_TO_OTHERS);
    changed.push(path);
  }
  return changed;
}
