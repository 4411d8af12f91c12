import type { GenerationRequest, SplitOffer } from "../api.js";

type Operation = SplitOffer["operation"];

/** What this browser keeps, since the API does not tell it again. */
interface Memory {
  /** What was asked for, by job. */
  readonly requests: Readonly<Record<string, GenerationRequest>>;
  /** The last split of a track, by track and operation: its job. */
  readonly splits: Readonly<Record<string, string>>;
  /** What stands in the form. */
  readonly draft: Readonly<Record<string, unknown>> | null;
}

const NAME = "fermata.studio";
const KEPT_MAX = 60;
const NOTHING: Memory = { requests: {}, splits: {}, draft: null };

/** Kept for the page alone where the browser stores nothing. */
let memory = read();

export function requestOf(jobId: string): GenerationRequest | undefined {
  return memory.requests[jobId];
}

export function keepRequest(jobId: string, request: GenerationRequest): void {
  write({ ...memory, requests: newest({ ...memory.requests, [jobId]: request }) });
}

export function splitJobOf(trackId: string, operation: Operation): string | undefined {
  return memory.splits[`${trackId} ${operation}`];
}

/** @param jobId null: there is none any more */
export function keepSplitJob(trackId: string, operation: Operation, jobId: string | null): void {
  const { [`${trackId} ${operation}`]: _old, ...others } = memory.splits;
  write({ ...memory, splits: jobId === null ? others : newest({ ...others, [`${trackId} ${operation}`]: jobId }) });
}

export function draft(): Memory["draft"] {
  return memory.draft;
}

export function keepDraft(kept: Readonly<Record<string, unknown>>): void {
  write({ ...memory, draft: kept });
}

/** Who signs out leaves nothing behind. */
export function forgetAll(): void {
  write(NOTHING);
}

function newest<Value>(all: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(all).slice(-KEPT_MAX));
}

function read(): Memory {
  try {
    return { ...NOTHING, ...(JSON.parse(localStorage.getItem(NAME) ?? "{}") as Partial<Memory>) };
  } catch {
    return NOTHING;
  }
}

function write(next: Memory): void {
  memory = next;
  try {
    localStorage.setItem(NAME, JSON.stringify(next));
  } catch {
    // Full, or forbidden by the browser: it is kept until the page is left.
  }
}
