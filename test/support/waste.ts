import { type ApiClient, dataOf } from "./api-client.js";
import type { Purchase } from "./vendor/index.js";

/** The work that an operator bought, and what the customers got of it. */
export interface WasteCount {
  /** Submissions that the vendor accepted. */
  readonly bought: number;
  /** Jobs that are completed and whose link serves a file that the vendor made for them. */
  readonly delivered: number;
  /** `bought − delivered` */
  readonly wasted: number;
  /** Every job that was not delivered, with the reason. */
  readonly undelivered: readonly string[];
}

/** A job by its id; vendors that do not get the id get the prompt, which is unique. */
export interface CountedJob {
  readonly id: string;
  readonly prompt: string;
}

interface SeenGeneration {
  readonly status: string;
  readonly credits_charged: number;
  readonly error?: { readonly code: string; readonly message: string } | null;
  readonly tracks: readonly { readonly play_url: string | null }[];
}

/** The sum of all counts of this process, failed runs included. */
export const wasteOfAll = { bought: 0, delivered: 0 };

/**
 * Counts what a client sees: `GET /api/v1/generations/{id}` returns `completed`, and its `play_url` returns the bytes
 * that the vendor made.
 *
 * @param api calls a server that serves the audio; the origin in `play_url` is replaced by its own
 */
export async function countWaste(
  purchases: readonly Purchase[],
  api: ApiClient,
  jobs: readonly CountedJob[],
): Promise<WasteCount> {
  const undelivered: string[] = [];
  for (const job of jobs) {
    const own = purchases.filter(({ jobId, prompt }) => (jobId === null ? prompt === job.prompt : jobId === job.id));
    const reason = await whyUndelivered(api, job.id, own);
    if (reason !== null) undelivered.push(`${job.id} (${job.prompt}; bought ${own.length} times): ${reason}`);
  }
  const [bought, delivered] = [purchases.length, jobs.length - undelivered.length];
  wasteOfAll.bought += bought;
  wasteOfAll.delivered += delivered;
  return { bought, delivered, wasted: bought - delivered, undelivered };
}

/** `waste: 0 of 40 bought` */
export function wasteLine({ bought, delivered }: { readonly bought: number; readonly delivered: number }): string {
  return `waste: ${bought - delivered} of ${bought} bought`;
}

/** @returns null when the job is completed and its link serves the bought file */
async function whyUndelivered(api: ApiClient, jobId: string, own: readonly Purchase[]): Promise<string | null> {
  const seen = dataOf<SeenGeneration>(await api.get(`/api/v1/generations/${jobId}`));
  const { status, credits_charged, tracks, error } = seen;
  if (status !== "completed") return `${status}, ${credits_charged} credits charged, ${error?.code}: ${error?.message}`;
  const playUrl = tracks[0]?.play_url ?? null;
  if (playUrl === null) return "completed without a play_url";
  const { pathname, search } = new URL(playUrl);
  const response = await fetch(`${api.url}${pathname}${search}`);
  const played = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) return `completed, and its play_url returns ${response.status}`;
  if (own.some(({ audio }) => played.equals(audio))) return null;
  return "completed, and its play_url returns other bytes than were bought";
}
