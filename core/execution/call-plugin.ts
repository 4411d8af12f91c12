import type { Clock } from "../ports/clock.js";
import type { Logger } from "../ports/logger.js";
import { type CallContext, ProviderFailure } from "../ports/music-provider.js";
import { clampFailure, clampResult } from "../results/clamp-result.js";

/** How long a plugin may take to react to the abort of its call. */
export const OBEY_MS = 5_000;

export interface PluginCall {
  readonly providerId: string;
  /** The method of the port: `submit`, `poll`, … */
  readonly name: string;
  /** The hard limit of the call, in milliseconds. */
  readonly limitMs: number;
  /** Aborts the call. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A plugin did not end a call after its limit or an abort. The outcome of the call is unknown. */
export class PluginCallError extends Error {
  override readonly name = "PluginCallError";
}

/**
 * Calls a plugin, and always ends: at the limit and at an abort of `signal` the plugin's own signal aborts, and a call
 * that ignores it is abandoned after {@link OBEY_MS}. What it returns or throws is within the limits of {@link
 * clampResult}.
 *
 * @param onLate receives the late result of an abandoned call
 * @throws {PluginCallError} the plugin did not end the call; else the error that the plugin throws
 */
export async function callPlugin<Result>(
  { providerId, name, limitMs, signal, clock, logger }: PluginCall,
  invoke: (context: CallContext) => Promise<Result>,
  onLate: (result: Result) => void = () => undefined,
): Promise<Result> {
  const aborting = new AbortController();
  const done = new AbortController();
  const passOn = (): void => aborting.abort(signal.reason);
  if (signal.aborted) passOn();
  else signal.addEventListener("abort", passOn, { once: true, signal: done.signal });
  let isLeft = false;
  const call = within(Promise.resolve().then(() => invoke({ signal: aborting.signal })));
  call.then(
    (result) => isLeft && onLate(result),
    (error: unknown) =>
      isLeft && logger.warn("An abandoned plugin call failed", { error, provider: providerId, call: name }),
  );
  try {
    const ended = await Promise.race([
      call.then((result) => ({ result })),
      endOf(clock, limitMs, aborting, done.signal),
    ]);
    if (ended !== null) return ended.result;
    isLeft = true;
    logger.error("A plugin did not end a call; its slot is free again", {
      provider: providerId,
      call: name,
      limit_ms: limitMs,
    });
    throw new PluginCallError(
      `The plugin ${providerId} did not end the call ${name} within ${limitMs} ms, and ignores its signal.`,
    );
  } finally {
    done.abort();
  }
}

async function within<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return clampResult(await call);
  } catch (error) {
    throw ProviderFailure.is(error) ? clampFailure(error) : error;
  }
}

/** Resolves when the call is to be abandoned. */
async function endOf(clock: Clock, limitMs: number, aborting: AbortController, done: AbortSignal): Promise<null> {
  await clock.sleep(limitMs, AbortSignal.any([aborting.signal, done]));
  if (!aborting.signal.aborted && !done.aborted) aborting.abort("call_limit");
  if (!done.aborted) await clock.sleep(OBEY_MS, done);
  return null;
}
