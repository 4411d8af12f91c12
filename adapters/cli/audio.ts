import type { Command } from "commander";
import type { AudioAmount, CollectionReport } from "../../core/maintenance/collect-audio.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, CommandFailed, print, withApp, withProgress } from "./output.js";

interface CollectFlags {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `audio …`. */
export function addAudioCommands(program: Command, host: CliHost): void {
  const audio = addGroup(program, "audio", "Stored audio files");
  addCommand(audio, "collect", "Delete files of ended jobs that no track names, left behind by lost workers", [
    "audio collect --dry-run",
    "audio collect --json",
  ])
    .option("--dry-run", "only count them")
    .action(async ({ dryRun = false, ...options }: CollectFlags) => {
      const report = await withApp(host, (app) =>
        withProgress(host, "Looking at files", () => app.audio.collect({ isDryRun: dryRun })),
      );
      print(host, options, presentReport(report), describeReport(report));
      if (report.failed.files > 0) throw new CommandFailed();
    });
}

function presentReport({ isDryRun, listed, orphaned, deleted, failed, recent, unknown }: CollectionReport): object {
  return { dry_run: isDryRun, listed, found: orphaned, deleted, failed, left_alone: { recent, unknown } };
}

function describeReport({ isDryRun, listed, orphaned, deleted, failed, recent, unknown }: CollectionReport): string[] {
  return [
    `Looked at ${shown(listed)}.`,
    `Found ${shown(orphaned)} left behind.`,
    isDryRun ? "Deleted none: a dry run." : `Deleted ${shown(deleted)}.`,
    ...(failed.files === 0 ? [] : [`Could not delete ${shown(failed)}; the log says why.`]),
    ...(recent.files === 0 ? [] : [`Left alone ${shown(recent)} written within the last hour.`]),
    ...(unknown.files === 0 ? [] : [`Left alone ${shown(unknown)} of no job that this installation knows.`]),
  ];
}

function shown({ prefixes, files, bytes }: AudioAmount): string {
  const under = `${prefixes} prefix${prefixes === 1 ? "" : "es"}`;
  return `${files} file${files === 1 ? "" : "s"} (${bytes} bytes) under ${under}`;
}
