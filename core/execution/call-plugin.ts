import { Pause } from "../pause.js";
import type { Clock } from "../ports/clock.js";
import type { Logger } from "../ports/logger.js";
import type { Metrics } from "../ports/metrics.js";
import { type CallContext, ProviderFailure } from "../ports/music-provider.js";
import { clampFailure, clampResult } from "../results/clamp-result.js";
import { InvalidResultFailure } from "../results/invalid-result.js";
import { failureIssue, resultIssues } from "../results/result-issues.js";

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
  readonly metrics: Pick<Metrics, "countProviderCall"> | null;
}

/** A plugin did not end a call after its limit or an abort. The outcome of the call is unknown. */
export class PluginCallError extends Error {
  override readonly name = "PluginCallError";
}

/**
 * Calls a plugin, and always ends: at the limit and at an abort of `signal` the plugin's own signal aborts, and a call
 * that ignores it is abandoned after {@link OBEY_MS}. What it returns is compared with the port by {@link
 * resultIssues}; what it returns or throws is within the limits of {@link clampResult}. A wrong member without which
 * the result can be used is logged.
 *
 * @param onLate receives the late result of an abandoned call
 * @throws {PluginCallError} the plugin did not end the call
 * @throws {InvalidResultFailure} what it returned, or the failure that it threw, is none of the port's; else the error
 *   that the plugin throws
 */
export async function callPlugin<Result>(
  plugin: PluginCall,
  invoke: (context: CallContext) => Promise<Result>,
  onLate: (result: Result) => void = () => undefined,
): Promise<Result> {
  const { providerId, name, limitMs, signal, clock, logger } = plugin;
  const startedAt = clock.now();
  const aborting = new AbortController();
  // Not a signal of several: making that took longer than the rest of a call.
  const wait = new Pause(clock);
  const passOn = (): void => {
    // Its limit has passed: it has until the end of that wait to obey.
    if (aborting.signal.aborted) return;
    aborting.abort(signal.reason);
    wait.end();
  };
  if (signal.aborted) passOn();
  else signal.addEventListener("abort", passOn, { once: true });
  let [isLeft, isOver] = [false, false];
  const call = checked(
    plugin,
    Promise.resolve().then(() => invoke({ signal: aborting.signal })),
  );
  call.then(
    (result) => isLeft && onLate(result),
    (error: unknown) =>
      isLeft && logger.warn("An abandoned plugin call failed", { error, provider: providerId, call: name }),
  );
  try {
    const ended = await Promise.race([
      call.then((result) => ({ result })),
      endOf(wait, limitMs, aborting, () => isOver),
    ]);
    if (ended !== null) {
      count(plugin, startedAt, null);
      return ended.result;
    }
    isLeft = true;
    logger.error("A plugin did not end a call; its slot is free again", {
      provider: providerId,
      call: name,
      limit_ms: limitMs,
    });
    throw new PluginCallError(
      `The plugin ${providerId} did not end the call ${name} within ${limitMs} ms, and ignores its signal.`,
    );
  } catch (error) {
    count(plugin, startedAt, errorOf(error, signal));
    throw error;
  } finally {
    signal.removeEventListener("abort", passOn);
    isOver = true;
    wait.end();
  }
}

function count(
  { providerId: provider, name: call, clock, metrics }: PluginCall,
  from: number,
  error: string | null,
): void {
  metrics?.countProviderCall({ provider, call, error }, Math.max(0, clock.now() - from) / 1000);
}

/** @see CountedCall */
function errorOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof PluginCallError) return "hung";
  if (error instanceof InvalidResultFailure) return "invalid_result";
  if (signal.aborted) return "aborted";
  return ProviderFailure.is(error) ? error.kind : "crashed";
}

async function checked<Result>({ providerId, name, logger }: PluginCall, call: Promise<Result>): Promise<Result> {
  let result: Result;
  try {
    result = await call;
  } catch (error) {
    if (!ProviderFailure.is(error)) throw error;
    const issue = failureIssue(error);
    throw issue === null ? clampFailure(error) : new InvalidResultFailure(providerId, name, [issue]);
  }
  const issues = resultIssues(name, result);
  const fatal = issues.filter(({ isFatal }) => isFatal).map(({ words }) => words);
  if (fatal.length > 0) throw new InvalidResultFailure(providerId, name, fatal);
  if (issues.length > 0) {
    const fields = { provider: providerId, call: name, issues: issues.map(({ words }) => words) };
    logger.warn("A plugin returned wrong members; the rest of its result is used", fields);
  }
  return clampResult(result);
}

/** Resolves when the call is to be abandoned. @param wait ended when the call is over, or aborted before its limit */
async function endOf(wait: Pause, limitMs: number, aborting: AbortController, isOver: () => boolean): Promise<null> {
  if (!aborting.signal.aborted && (await wait.of(limitMs))) aborting.abort("call_limit");
  if (!isOver()) await wait.of(OBEY_MS);
  return null;
}
