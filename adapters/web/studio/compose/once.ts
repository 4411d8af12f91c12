import { newIdempotencyKey } from "../../../client/key.js";
import { ApiError } from "../../parts/api-error.js";

/** A request that creates something, under one key until its outcome is known. */
interface Attempt {
  readonly request: string;
  readonly key: string;
}

const NAME = "fermata.studio.attempts";
const TRIES = 3;
const PAUSE_MS = 800;
/** After these it is open whether the request was carried out. */
const UNKNOWN = [0, 500, 503, 504];

/**
 * Carries out a request once, even when its response is lost: it is sent again under the same key, by itself or, later
 * and after a reload too, when the same is asked for once more.
 *
 * @param request what is asked for, as text
 * @param send sends it under a key
 * @throws {ApiError}
 */
export async function once<Result>(request: string, send: (key: string) => Promise<Result>): Promise<Result> {
  const attempt = attempts().find((each) => each.request === request) ?? { request, key: newIdempotencyKey() };
  keep([...others(attempt), attempt]);
  for (let tried = 1; ; tried += 1) {
    try {
      const result = await send(attempt.key);
      keep(others(attempt));
      return result;
    } catch (error) {
      const isUnknown = error instanceof ApiError && UNKNOWN.includes(error.status);
      if (!isUnknown) keep(others(attempt));
      if (!isUnknown || tried === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tried));
    }
  }
}

let kept: readonly Attempt[] = [];

function attempts(): readonly Attempt[] {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? "[]") as readonly Attempt[];
  } catch {
    return kept;
  }
}

function others({ key }: Attempt): readonly Attempt[] {
  return attempts().filter((each) => each.key !== key);
}

function keep(next: readonly Attempt[]): void {
  kept = next;
  try {
    sessionStorage.setItem(NAME, JSON.stringify(next));
  } catch {
    // Forbidden by the browser: they are kept until the page is left.
  }
}
