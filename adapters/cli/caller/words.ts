import type { ServerFlags } from "./server.js";

/** How the log of requests calls this integration. */
export const CLIENT = "fermata-cli";

export interface GoOn extends ServerFlags {
  readonly out?: string;
  readonly force?: boolean;
}

/** How to go on with a job, on the same server. */
export function waitHint(jobId: string, flags: GoOn): string {
  return `Go on with ${waitCommand(jobId, flags)}.`;
}

/** As {@link waitHint}, where files are at the names of the job's own. */
export function replaceHint(jobId: string, flags: GoOn): string {
  const command = waitCommand(jobId, { ...flags, force: true });
  return `Go on with ${command}, which replaces the files that are there, or with another --out.`;
}

function waitCommand(jobId: string, { out, force = false, url, profile }: GoOn): string {
  const destination = out === undefined ? [] : ["--out", out, ...(force ? ["--force"] : [])];
  return `\`fermata wait ${[jobId, ...[...destination, ...serverWords({ url, profile })].map(quoted)].join(" ")}\``;
}

function serverWords({ url, profile }: { url: string | undefined; profile: string | undefined }): string[] {
  return [...(url === undefined ? [] : ["--url", url]), ...(profile === undefined ? [] : ["--profile", profile])];
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
