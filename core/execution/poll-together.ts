import { Lane, LANE_DEFAULTS, type LaneOptions } from "../lane.js";
import type { Clock } from "../ports/clock.js";
import { type MusicProvider, ProviderFailure, type ProviderHandle, type Snapshot } from "../ports/music-provider.js";
import type { Tracer } from "../ports/tracer.js";
import { untraced } from "../tracing/traced.js";

/** A poll that waits longer than this would time out anyway. */
const LANE: LaneOptions = { ...LANE_DEFAULTS, groupMax: 100, waitMaxMs: 60_000 };

interface Asked {
  readonly handle: ProviderHandle;
  readonly signal: AbortSignal;
}

type Poll = NonNullable<MusicProvider["poll"]>;

/**
 * How to poll one work at a provider. A provider with `pollMany` gets one request at a time, for all polls that are
 * due; null for a provider that cannot be polled.
 */
export function pollOf(provider: MusicProvider, clock: Clock, tracer: Tracer | null): Poll | null {
  const { pollMany } = provider;
  if (pollMany === undefined) return provider.poll?.bind(provider) ?? null;
  const lane = new Lane<Asked, Snapshot | ProviderFailure>(
    (asked) => untraced(tracer, () => askTogether(pollMany.bind(provider), asked)),
    clock,
    LANE,
  );
  return async (handle, { signal }) => {
    const snapshot = await lane.submit({ handle, signal });
    if (ProviderFailure.is(snapshot)) throw snapshot;
    return snapshot;
  };
}

/**
 * A failure of the request fails every poll of the group: single polls instead would exceed the provider's rate limit.
 */
async function askTogether(
  pollMany: NonNullable<MusicProvider["pollMany"]>,
  asked: readonly Asked[],
): Promise<readonly (Snapshot | ProviderFailure)[]> {
  const signal = allAborted(asked.map((one) => one.signal));
  try {
    const snapshots: unknown = await pollMany(
      asked.map(({ handle }) => handle),
      { signal },
    );
    if (!Array.isArray(snapshots))
      throw new ProviderFailure(
        "unavailable",
        "The plugin returned no list from pollMany; allowed: one for each handle.",
      );
    const returned = snapshots as readonly (Snapshot | ProviderFailure | undefined)[];
    return asked.map(
      (_, index) =>
        returned[index] ??
        new ProviderFailure("unavailable", "The plugin returned fewer results than it was given handles."),
    );
  } catch (cause) {
    const failure = ProviderFailure.is(cause)
      ? cause
      : new ProviderFailure("unavailable", "The plugin failed in the call pollMany.", { cause });
    return asked.map(() => failure);
  }
}

/** Aborts when no poll of the group waits any more. */
function allAborted(signals: readonly AbortSignal[]): AbortSignal {
  const all = new AbortController();
  let left = signals.length;
  const gone = (): void => {
    left -= 1;
    if (left === 0) all.abort();
  };
  for (const signal of signals) {
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true, signal: all.signal });
  }
  return all.signal;
}
