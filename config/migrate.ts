import { openDatabase } from "../adapters/storage/sql/index.js";
import type { Logger } from "../core/ports/logger.js";
import { requirePackages } from "./optional-packages.js";
import type { Settings } from "./settings.js";

/** Brings the storage's schema up to date. @returns the names of the migrations applied */
export async function migrateStorage(settings: Settings, logger: Logger): Promise<readonly string[]> {
  requirePackages(settings, ["sqlite", "mysql"]);
  const database = await openDatabase({ ...settings.storage, logger });
  try {
    return await database.migrate();
  } finally {
    await database.close();
  }
}
