/** The result of `work`. @throws the reason of the signal when it aborts first */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const done = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    done.abort();
    // The outcome of abandoned work is ignored.
    work.catch(() => undefined);
  }
}
