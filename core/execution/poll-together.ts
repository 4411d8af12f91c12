import { Lane, type LaneOptions } from "../lane.js";
import type { Clock } from "../ports/clock.js";
import { type MusicProvider, ProviderFailure, type ProviderHandle, type Snapshot } from "../ports/music-provider.js";

/** Whoever waits longer than this for its group would have been asked after in vain anyway. */
const LANE: LaneOptions = { groupMax: 100, waitingMax: 2_000, waitMaxMs: 60_000 };

interface Asked {
  readonly handle: ProviderHandle;
  readonly signal: AbortSignal;
}

type Poll = NonNullable<MusicProvider["poll"]>;

/**
 * How to ask a provider after one piece of work. One that has `pollMany` gets one request at a time, which takes along
 * whatever has come due meanwhile; null for one that can be asked after nothing.
 */
export function pollOf(provider: MusicProvider, clock: Clock): Poll | null {
  const { pollMany } = provider;
  if (pollMany === undefined) return provider.poll?.bind(provider) ?? null;
  const lane = new Lane<Asked, Snapshot | ProviderFailure>(
    (asked) => askTogether(pollMany.bind(provider), asked),
    clock,
    LANE,
  );
  return async (handle, { signal }) => {
    const snapshot = await lane.submit({ handle, signal });
    if (ProviderFailure.is(snapshot)) throw snapshot;
    return snapshot;
  };
}

/** What fails for all is told to each: asking one by one instead is what such a provider does not want. */
async function askTogether(
  pollMany: NonNullable<MusicProvider["pollMany"]>,
  asked: readonly Asked[],
): Promise<readonly (Snapshot | ProviderFailure)[]> {
  const signal = allAborted(asked.map((one) => one.signal));
  try {
    const snapshots = await pollMany(
      asked.map(({ handle }) => handle),
      { signal },
    );
    return asked.map(
      (_, index) =>
        snapshots[index] ??
        new ProviderFailure("unavailable", "The plugin answered for fewer than it was asked after."),
    );
  } catch (cause) {
    const failure = ProviderFailure.is(cause)
      ? cause
      : new ProviderFailure("unavailable", "The plugin failed without saying why.", { cause });
    return asked.map(() => failure);
  }
}

/** Aborts when nobody of the group waits any more. */
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
