import { access, constants, mkdir, readdir } from "node:fs/promises";
import { SECRET_KEY_FILE } from "../adapters/crypto/secret-key.js";
import { closeToOthers } from "../adapters/system/private-directory.js";
import type { Logger } from "../core/ports/logger.js";

/**
 * Creates the data directory where it is missing, closed to other users of the machine. One that is there is closed to
 * them as well when it is empty or holds `secret.key`, which only Fermata creates; any other keeps its rights.
 *
 * @throws {Error} naming the directory and why it cannot be written
 */
export async function prepareDataDir(dataDir: string, logger: Logger): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK);
    const names = await readdir(dataDir);
    const isOurs = names.length === 0 || names.includes(SECRET_KEY_FILE);
    const changed = isOurs ? await closeToOthers(dataDir) : [];
    if (changed.length > 0)
      logger.warn("Other users of this machine could read stored data; not any more", { changed });
  } catch (cause) {
    throw new Error(`The data directory ${dataDir} (dataDir) cannot be written: ${(cause as Error).message}.`, {
      cause,
    });
  }
}
