import type { Command } from "commander";
import type { Job } from "../../core/jobs/job.js";
import type { CliHost, OperatorApp } from "./host.js";
import { addCommand, addGroup, print, withApp } from "./output.js";

interface SplitFlags {
  readonly account?: string;
  readonly json?: boolean;
}

/** `stems …`. */
export function addStemCommands(program: Command, host: CliHost): void {
  const stems = addGroup(program, "stems", "Take tracks apart into stems");
  const add = (name: string, summary: string, start: (app: OperatorApp, account: string | null, trackId: string) => Promise<Job>): void => {
    addCommand(stems, `${name} <track>`, summary, [`stems ${name} trk_01j…`, `stems ${name} trk_01j… --account acct_01j… --json`])
      .option("--account <id>", "who pays and gets the stems; default: the track's owner")
      .action(async (trackId: string, flags: SplitFlags) => {
        await withApp(host, async (app, present) => {
          const job = await start(app, flags.account ?? null, trackId);
          print(host, flags, { id: job.id, ...present.job({ job, tracks: [], outputs: [] }) }, [
            `Queued ${job.id} for ${job.creditsCharged} credits.`,
            `See it with: jobs show ${job.id}`,
          ]);
        });
      });
  };
  add("split", "Split a track into stems", (app, account, trackId) => app.jobs.splitStems(account, trackId));
  add("remove-vocals", "Split a track into vocals and all the rest", (app, account, trackId) => app.jobs.removeVocals(account, trackId));
}
