import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type { CliHost } from "../host.js";
import { addCommand } from "../output.js";
import { deliver } from "./deliver.js";
import { printAccepted } from "./generate.js";
import { addFollowOptions, type FollowFlags, followJob, requestJob } from "./run-job.js";
import { checkStems, destinationOf } from "./save.js";
import { addServerOptions, connect, type ServerFlags } from "./server.js";
import { waitHint } from "./words.js";

interface OutFlags extends ServerFlags, FollowFlags {
  readonly out?: string;
  readonly force?: boolean;
}

interface SplitFlags extends OutFlags {
  readonly vocals?: boolean;
  readonly detach?: boolean;
  readonly key?: string;
}

/** `split`. */
export function addSplit(program: Command, host: CliHost): void {
  const command = addCommand(program, "split <track>", "Split a track on a server, and fetch the stems", [
    "split trk_01j… --out stems",
    "split trk_01j… --vocals --out karaoke",
  ])
    .option("--vocals", "into the vocals and all the rest alone")
    .option("--out <folder>", "fetch the stems, each named after its part. Without it links are printed")
    .option("--force", "replace files that are there")
    .option("--detach", "do not wait for the end")
    .option("--key <key>", "the Idempotency-Key of an earlier try: nothing is charged twice");
  addServerOptions(addFollowOptions(command)).action(async (track: string, flags: SplitFlags, self: Command) => {
    if (flags.detach === true && flags.out !== undefined)
      self.error("error: --out needs the end, for which --detach does not wait");
    const { out, force, key = randomUUID(), detach = false } = flags;
    const api = await connect(host, flags, self);
    const destination = out === undefined ? null : await destinationOf(host, out, { isFolder: true, force });
    const kind = flags.vocals === true ? "vocal_removal" : "stem_split";
    if (destination !== null) await checkStems(destination, kind);
    const request = { send: () => api.createSplit(track, kind, key), repeatedWith: `--key ${key}` };
    const goOn = (id: string): string => waitHint(id, flags);
    const { accepted, ended } = await requestJob(host, api, request, { ...flags, isDetached: detach }, goOn);
    if (ended === null) return printAccepted(host, accepted, flags, key);
    await deliver(host, api, ended, destination, flags);
  });
}

/** `wait`. */
export function addWait(program: Command, host: CliHost): void {
  const command = addCommand(program, "wait <job>", "Go on with a job that was left running, and fetch its files", [
    "wait job_01j… --out rain.mp3",
    "wait job_01j… --timeout 60 --json",
  ])
    .option("--out <path>", "a file for the audio of a generation, a folder for the stems of a split")
    .option("--force", "replace files that are there");
  addServerOptions(addFollowOptions(command)).action(async (id: string, flags: OutFlags, self: Command) => {
    const { out, force } = flags;
    const api = await connect(host, flags, self);
    const isFolder = ["stem_split", "vocal_removal"].includes((await api.job(id)).operation);
    const destination = out === undefined ? null : await destinationOf(host, out, { isFolder, force });
    const job = await followJob(host, api, id, flags, waitHint(id, flags));
    await deliver(host, api, job, destination, flags);
  });
}
