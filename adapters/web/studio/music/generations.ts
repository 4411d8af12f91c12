import { signal } from "@preact/signals";
import { dataOf } from "../../parts/api-error.js";
import { api, type Generation, type GenerationRequest, type JobError, type Track } from "../api.js";
import { refreshCredits } from "../shell/credits.js";
import { follow, type Outlook } from "./follow.js";
import { keepRequest, requestOf } from "./memory.js";
import { once } from "../compose/once.js";

/** A generation as its card shows it. */
export interface ShownGeneration extends Generation {
  readonly request?: GenerationRequest | undefined;
  /** While it is under way, once the server has reported. */
  readonly outlook?: Outlook;
  /** Why it failed, once that is known. */
  readonly error?: JobError;
}

/** The account's last generations, newest first; null until they were read. */
export const generations = signal<readonly ShownGeneration[] | null>(null);
export const generationsError = signal<Error | null>(null);
/** Said to screen readers when a job has ended. */
export const announcement = signal("");

const SHOWN = 20;
const followed = new Map<string, () => void>();

export async function loadGenerations(): Promise<void> {
  generationsError.value = null;
  try {
    const query = { limit: SHOWN };
    const { generations: found } = await dataOf(api.GET("/api/v1/generations", { params: { query } }));
    generations.value = found.map((each) => ({ ...each, request: requestOf(each.id) }));
    for (const generation of generations.value) {
      if (generation.status === "failed") void explain(generation.id);
      else if (generation.status !== "completed") track(generation.id);
    }
  } catch (error) {
    generationsError.value = error as Error;
  }
}

/** Forgets all that is shown, and follows nothing any more. */
export function clearGenerations(): void {
  for (const stop of followed.values()) stop();
  followed.clear();
  generations.value = null;
}

/** Starts a generation, once. @throws {ApiError} */
export async function createGeneration(request: GenerationRequest): Promise<void> {
  const created = await once(JSON.stringify(request), (key) =>
    dataOf(api.POST("/api/v1/generations", { params: { header: { "Idempotency-Key": key } }, body: request })),
  );
  keepRequest(created.id, request);
  const { id, status, model_id, created_at, credits_reserved: credits_charged } = created;
  const generation: ShownGeneration = {
    id,
    status,
    model_id,
    created_at,
    credits_charged,
    request,
    completed_at: null,
    tracks: [],
  };
  generations.value = [generation, ...(generations.value ?? []).filter((each) => each.id !== id)];
  announcement.value = "Your music is on its way.";
  track(id);
  await refreshCredits();
}

/** Puts a track in the place of its former self. */
export function replaceTrack(changed: Track): void {
  generations.value =
    generations.value?.map((generation) => ({
      ...generation,
      tracks: generation.tracks.map((each) => (each.id === changed.id ? changed : each)),
    })) ?? null;
}

function track(id: string): void {
  followed.get(id)?.();
  followed.set(
    id,
    follow(id, {
      onOutlook: (outlook) => change(id, { outlook }),
      onEnd: (job) => {
        followed.delete(id);
        void finish(id, job.error);
      },
    }),
  );
}

async function finish(id: string, error: JobError | undefined): Promise<void> {
  void refreshCredits();
  const found = await dataOf(api.GET("/api/v1/generations/{id}", { params: { path: { id } } })).catch(() => null);
  if (found !== null) change(id, { ...found, ...(error === undefined ? {} : { error }) });
  else if (error !== undefined) change(id, { status: "failed", error, credits_charged: 0 });
  announcement.value =
    error === undefined ? `${found?.tracks[0]?.title ?? "Your music"} is ready.` : "A job failed. It was refunded.";
}

async function explain(id: string): Promise<void> {
  const params = { path: { job_id: id } };
  const job = await dataOf(api.GET("/api/v1/jobs/{job_id}", { params })).catch(() => null);
  if (job?.error !== undefined) change(id, { error: job.error });
}

function change(id: string, changes: Partial<ShownGeneration>): void {
  generations.value =
    generations.value?.map((generation) => (generation.id === id ? { ...generation, ...changes } : generation)) ?? null;
}
