import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

/** The parts of the address behind the view's name, and its query. */
export type DrawView = (parts: readonly string[], query: URLSearchParams) => VNode;

/** By the first part of the address. */
export type Views = Readonly<Record<string, DrawView>>;

export type LoadViews = () => Promise<{ readonly views: Views }>;

const loaded = new Map<LoadViews, Views>();

interface Section {
  /** undefined until they are there. */
  readonly views: Views | undefined;
  /** The script of the section did not come. */
  readonly error: Error | undefined;
}

/** The views of a section. Its script is fetched when it is first looked at. */
export function useSection(load: LoadViews): Section {
  const [failure, setFailure] = useState<{ readonly of: LoadViews; readonly error: Error }>();
  const [, setLoaded] = useState(0);
  useEffect(() => {
    let isLookedAt = true;
    if (loaded.has(load)) return;
    load().then(
      ({ views }) => {
        loaded.set(load, views);
        if (isLookedAt) setLoaded(loaded.size);
      },
      (error: unknown) => {
        if (isLookedAt) setFailure({ of: load, error: error instanceof Error ? error : new Error(String(error)) });
      },
    );
    return () => {
      isLookedAt = false;
    };
  }, [load]);
  return { views: loaded.get(load), error: failure?.of === load ? failure.error : undefined };
}
