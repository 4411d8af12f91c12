import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Resource<Data> {
  /** What came last; undefined until something has. It stays while it is read again, and when that fails. */
  readonly data: Data | undefined;
  /** Of the last read that has ended; undefined when it succeeded. */
  readonly error: Error | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

export interface ResourceOptions {
  /** Reads again after this time, while the page is visible, no read is under way and no dialog is open. */
  readonly everyMs?: number | undefined;
}

/**
 * Reads something when the component appears and whenever `inputs` change.
 *
 * @param read is cancelled by its signal when its result is not needed any more
 * @param inputs what `read` depends on, compared by identity
 */
export function useResource<Data>(
  read: (signal: AbortSignal) => Promise<Data>,
  inputs: readonly unknown[],
  { everyMs }: ResourceOptions = {},
): Resource<Data> {
  const [state, setState] = useState<Omit<Resource<Data>, "reload">>({
    data: undefined,
    error: undefined,
    isLoading: true,
  });
  const running = useRef<AbortController | null>(null);

  const load = useCallback((forgets: boolean) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const ended = (result: (before: typeof state) => typeof state): void => {
      if (controller.signal.aborted) return;
      running.current = null;
      setState(result);
    };
    setState(({ data, error }) => ({
      data: forgets ? undefined : data,
      error: forgets ? undefined : error,
      isLoading: true,
    }));
    read(controller.signal).then(
      (data) => ended(() => ({ data, error: undefined, isLoading: false })),
      (error: unknown) => {
        const shown = error instanceof Error ? error : new Error(String(error));
        ended(({ data }) => ({ data, error: shown, isLoading: false }));
      },
    );
  }, inputs);

  useEffect(() => {
    load(true);
    return () => running.current?.abort();
  }, [load]);

  useEffect(() => {
    if (everyMs === undefined) return;
    const again = (): void => {
      // A dialog is part of what is shown: reading again could take it away from under the reader.
      const isHeld = document.querySelector("dialog[open]") !== null;
      if (document.visibilityState === "visible" && running.current === null && !isHeld) load(false);
    };
    const timer = setInterval(again, everyMs);
    document.addEventListener("visibilitychange", again);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
    };
  }, [load, everyMs]);

  return { ...state, reload: () => load(false) };
}
