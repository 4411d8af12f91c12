import { FermataError } from "../errors.js";
import { ProviderFailure } from "../ports/music-provider.js";
import type { Span, SpanDescription, Tracer } from "../ports/tracer.js";

/**
 * Runs `work` in a span of its own, which fails when it rejects. Where there is no tracer, or no span that it could be
 * a part of, it only runs it.
 */
export async function traced<Result>(
  tracer: Tracer | null,
  describe: () => SpanDescription,
  work: (span: Span | null) => Promise<Result>,
): Promise<Result> {
  if (tracer === null) return work(null);
  const description = describe();
  if (description.parent === undefined && tracer.current() === null) return work(null);
  const span = tracer.start(description);
  try {
    return await tracer.within(span, () => work(span));
  } catch (error) {
    span.fail(errorTypeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Runs `work` for several commands together: it is no part of the one that happened to begin it. */
export function untraced<Result>(tracer: Tracer | null, work: () => Result): Result {
  return tracer === null ? work() : tracer.within(null, work);
}

/** What kind of error it is, in a closed word: its message may hold anything. */
function errorTypeOf(error: unknown): string {
  if (FermataError.is(error)) return error.code;
  if (ProviderFailure.is(error)) return error.kind;
  return error instanceof Error ? error.name : "unknown";
}
