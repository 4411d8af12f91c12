import { findSubmissions } from "../core/execution/submission-switch.js";
import type { InstallationStore } from "../core/ports/installation-store.js";
import { type CheckResult, ok, warning } from "../core/ports/self-check.js";
import type { Settings } from "./settings.js";

/** Whether new work goes to providers; jobs that wait for an operator look like those that wait for a slot. */
export async function submissionsResult({ jobs }: Settings, installation: InstallationStore): Promise<CheckResult> {
  const name = "submissions";
  const { state, changedAt } = await findSubmissions(installation);
  if (state === "paused") {
    const since = changedAt === null ? "" : ` since ${new Date(changedAt).toISOString()}`;
    return warning(
      name,
      `Paused${since}: jobs are accepted and wait, and nothing new is bought.`,
      "Run `fermata jobs resume`.",
    );
  }
  if (jobs.submissions === "active") return ok(name, "New jobs are submitted to providers.");
  return warning(
    name,
    "jobs.submissions is paused: a process that starts with these settings buys nothing until `fermata jobs " +
      "resume` is run.",
    "Run `fermata jobs resume`, and set jobs.submissions to active before the next start.",
  );
}
