import type { WindowRule, WindowState, WindowStatus } from "../ports/rate-limiter.js";

/**
 * A window that starts in the future by no more than this is running: another process whose clock is ahead began it, or
 * this one's clock was set back. One further ahead is left over from a clock that was wrong.
 */
export const CLOCK_SKEW_MAX_MS = 10_000;

const EMPTY: WindowState = { startedAt: 0, count: 0 };

/** The window as of `now`: an ended one is empty. */
export function currentWindow(state: WindowState | undefined, rule: WindowRule, now: number): WindowState {
  if (state === undefined || state.count <= 0) return EMPTY;
  return isRunning(state, rule.windowSeconds, now) ? state : EMPTY;
}

/** Whether a window of this length is neither over nor far in the future. */
export function isRunning({ startedAt }: Pick<WindowState, "startedAt">, windowSeconds: number, now: number): boolean {
  const age = now - startedAt;
  return age >= -CLOCK_SKEW_MAX_MS && age < windowSeconds * 1000;
}

export function windowStatus(state: WindowState, rule: WindowRule, now: number): WindowStatus {
  const endsInMs = state.count > 0 ? state.startedAt + rule.windowSeconds * 1000 - now : rule.windowSeconds * 1000;
  // Named one by one: a spread takes 2 µs here, and every request asks for two of these.
  return {
    limit: rule.limit,
    windowSeconds: rule.windowSeconds,
    remaining: Math.max(0, rule.limit - state.count),
    resetSeconds: Math.max(1, Math.ceil(endsInMs / 1000)),
  };
}

/** The fullest window without capacity, or null. With several, the one that stays full the longest. */
export function exhaustedWindow(statuses: readonly WindowStatus[]): WindowStatus | null {
  const full = statuses.filter((status) => status.remaining === 0);
  return full.reduce<WindowStatus | null>(
    (longest, status) => (longest === null || status.resetSeconds > longest.resetSeconds ? status : longest),
    null,
  );
}

/** The window with one more request counted. */
export function countRequest(state: WindowState, now: number): WindowState {
  return state.count === 0 ? { startedAt: now, count: 1 } : { startedAt: state.startedAt, count: state.count + 1 };
}
