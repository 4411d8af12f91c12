import { findDue } from "../core/maintenance/report-storage.js";
import { retentionRules } from "../core/maintenance/retention.js";
import type { GrowthStore } from "../core/ports/growth-store.js";
import { type CheckResult, ok, warning } from "../core/ports/self-check.js";
import { retentionOf, scheduleOf } from "./core-options.js";
import type { Settings } from "./settings.js";

const DAY_MS = 86_400_000;
/** Deletion takes minutes, and a stop over a weekend is not yet a fault. */
const BEHIND_DAYS = 3;

/** Whether what is past its time is deleted, and how large the database is. */
export async function growthResult(
  settings: Settings,
  growth: Pick<GrowthStore, "due" | "size">,
  now: number,
): Promise<CheckResult> {
  const name = "storage growth";
  const rules = retentionRules(retentionOf(settings), scheduleOf(settings));
  const due = await findDue(growth, rules, now, 1);
  const behind = due.filter(({ overdueMs }) => overdueMs > BEHIND_DAYS * DAY_MS);
  const { bytes } = await growth.size();
  const size = bytes === null ? "" : `The database has ${Math.ceil(bytes / 1024 ** 2)} MiB. `;
  if (behind.length === 0) return ok(name, `${size}Nothing is past its time for more than ${BEHIND_DAYS} days.`);
  const kinds = behind.map(
    ({ kind, setting, overdueMs }) => `${kind} (${setting}) for ${Math.floor(overdueMs / DAY_MS)} days`,
  );
  return warning(
    name,
    `${size}Past its time and not deleted: ${kinds.join(", ")}.`,
    "Keep a process that works on jobs running: `fermata work` or `fermata start`. See `fermata storage report`.",
  );
}
