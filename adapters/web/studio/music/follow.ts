import type { Progress } from "../../../client/follow.js";
import { dataOf } from "../../parts/api-error.js";
import { BASE_URL } from "../../parts/base.js";
import { api, type Job } from "../api.js";

/** Where a job stands, as the stream of its events tells. */
export type Outlook = Progress;

export interface Follower {
  onOutlook(outlook: Outlook): void;
  onEnd(job: Job): void;
}

/** A browser has some six connections to a server, and audio needs them too. */
const STREAMS_MAX = 2;
const POLL_MS = 2_000;
/** A proxy that holds the stream back: nothing came by then. */
const SILENCE_MS = 8_000;

let streams = 0;

/** Follows a job to its end: by its stream of events, or by polling where there is none. @returns stops it */
export function follow(jobId: string, follower: Follower): () => void {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource | null = null;

  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
    closeStream();
  };
  const closeStream = (): void => {
    if (source === null) return;
    source.close();
    source = null;
    streams -= 1;
  };
  const end = (job: Job): void => {
    if (isOver) return;
    stop();
    follower.onEnd(job);
  };
  const poll = async (): Promise<void> => {
    closeStream();
    const params = { path: { job_id: jobId } };
    const job = await dataOf(api.GET("/api/v1/jobs/{job_id}", { params })).catch(() => null);
    if (isOver) return;
    if (job !== null && (job.status === "completed" || job.status === "failed")) return end(job);
    timer = setTimeout(() => void poll(), POLL_MS);
  };
  const listen = (): void => {
    streams += 1;
    source = new EventSource(`${BASE_URL}api/v1/jobs/${jobId}/events`);
    timer = setTimeout(() => void poll(), SILENCE_MS);
    const heard = (): void => clearTimeout(timer);
    source.addEventListener("accepted", heard);
    source.addEventListener("outlook", (event) => {
      heard();
      follower.onOutlook(JSON.parse(event.data as string) as Outlook);
    });
    for (const name of ["completed", "failed"]) {
      source.addEventListener(name, (event) => end((JSON.parse(event.data as string) as { readonly job: Job }).job));
    }
    source.addEventListener("error", () => {
      // It connects again by itself, unless the response was none that it can go on from.
      if (source?.readyState === EventSource.CLOSED) void poll();
    });
  };
  if (streams < STREAMS_MAX) listen();
  else void poll();
  return stop;
}
