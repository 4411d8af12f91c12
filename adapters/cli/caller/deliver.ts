import type { CliHost } from "../host.js";
import { callable, print } from "../output.js";
import type { CallerApi, CallerJob } from "./caller-api.js";
import { withHint } from "./caller-failure.js";
import { areThere, type Destination, saveOutputs, type SavedFile } from "./save.js";
import { type GoOn, replaceHint, waitHint } from "./words.js";

/**
 * Saves the files of a job that completed, and prints the job.
 *
 * @param destination null: nothing is saved, and the links are printed
 * @param flags of the command, with which another one fetches the files again
 */
export async function deliver(
  host: CliHost,
  api: CallerApi,
  job: CallerJob,
  destination: Destination | null,
  flags: GoOn & { readonly json?: boolean },
): Promise<void> {
  const { json } = flags;
  const files = destination === null ? [] : await saved(host, api, job, destination, flags);
  const shown = { id: job.job_id, ...job, ...(destination === null ? {} : { files }) };
  print(host, { json: json === true }, shown, destination === null ? linksOf(job) : files.map(({ path }) => path));
  const renamed = files.filter(({ path }) => !destination?.isFolder && !path.startsWith(destination?.path ?? path));
  for (const { path } of json === true ? [] : renamed) host.stderr.write(`The track has another format: ${path}\n`);
}

/** The job is paid for: a failure says how its files can be had. */
async function saved(
  host: CliHost,
  api: CallerApi,
  job: CallerJob,
  destination: Destination,
  flags: GoOn,
): Promise<SavedFile[]> {
  try {
    return await saveOutputs(host, api, job, destination);
  } catch (error) {
    // Of several files some may have been saved, which the next command finds.
    const hint = (await areThere(job, destination).catch(() => false)) ? replaceHint : waitHint;
    throw withHint(error, callable(host, hint(job.job_id, flags)));
  }
}

function linksOf({ outputs }: CallerJob): string[] {
  return outputs.flatMap(({ type, label, track_id: track, url }) => [`${type === "track" ? track : label}  ${url}`]);
}
