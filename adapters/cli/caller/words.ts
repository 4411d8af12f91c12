import type { ServerFlags } from "./server.js";

/** How the log of requests calls this integration. */
export const CLIENT = "fermata-cli";

interface GoOn extends ServerFlags {
  readonly out?: string;
}

/** How to go on with a job, on the same server. */
export function waitHint(jobId: string, { out, url, profile }: GoOn): string {
  const flags = [...(out === undefined ? [] : ["--out", out]), ...serverWords({ url, profile })].map(quoted);
  return `Go on with \`fermata wait ${[jobId, ...flags].join(" ")}\`.`;
}

function serverWords({ url, profile }: { url: string | undefined; profile: string | undefined }): string[] {
  return [...(url === undefined ? [] : ["--url", url]), ...(profile === undefined ? [] : ["--profile", profile])];
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
