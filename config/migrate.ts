import type { Logger } from "../core/ports/logger.js";
import { withOpen } from "./adapters/check.js";
import { loadAdapters } from "./adapters/load.js";
import { requirePackages } from "./optional-packages.js";
import type { Settings } from "./settings.js";

/** Brings the storage's schema up to date. @returns the names of the migrations applied */
export async function migrateStorage(settings: Settings, logger: Logger): Promise<readonly string[]> {
  requirePackages(settings, ["sqlite", "mysql"]);
  const storage = (await loadAdapters(settings, ["storage"])).get("storage");
  return withOpen(storage, { logger }, async ({ schema }) => (await schema?.migrate()) ?? []);
}
