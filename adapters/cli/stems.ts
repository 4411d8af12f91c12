import type { Command } from "commander";
import type { SplitKind } from "../../core/jobs/job.js";
import type { CliHost } from "./host.js";
import { accountIn, addCommand, addGroup, callable, print, withApp } from "./output.js";

interface SplitFlags {
  readonly account?: string;
  readonly reference?: string;
  readonly json?: boolean;
}

/** `stems …`. */
export function addStemCommands(program: Command, host: CliHost): void {
  const stems = addGroup(program, "stems", "Split tracks into stems");
  const add = (name: string, summary: string, kind: SplitKind): void => {
    addCommand(stems, `${name} <track>`, summary, [
      `stems ${name} trk_01j…`,
      `stems ${name} trk_01j… --account acct_01j… --json`,
      `stems ${name} trk_01j… --reference "order 17"`,
    ])
      .option("--account <account>", "who pays and gets the stems; default: the track's owner")
      .option(
        "--reference <text>",
        "what the account calls it; a repeated call with the same reference starts and charges nothing",
      )
      .action(async (trackId: string, { account, reference, ...flags }: SplitFlags) => {
        await withApp(host, async (app, present) => {
          const options = reference === undefined ? {} : { reference };
          const accountId = account === undefined ? null : await accountIn(app, account);
          const job = await app.splits.start({ kind, accountId, trackId, ...options });
          const shown = {
            id: job.id,
            ...present.job(job.isRepeated ? await app.jobs.show(job.id) : { job, tracks: [], outputs: [] }),
          };
          const done = job.isRepeated
            ? `${reference} was started already: ${job.id} is ${job.status}. Nothing was charged again.`
            : `Queued ${job.id} for ${job.creditsCharged} credits.`;
          print(host, flags, shown, [done, callable(host, `See it with \`fermata jobs show ${job.id}\`.`)]);
        });
      });
  };
  add("split", "Split a track into stems", "stem_split");
  add("remove-vocals", "Split a track into vocals and all the rest", "vocal_removal");
}
