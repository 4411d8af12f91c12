import { useState } from "preact/hooks";

export interface Task<Result> {
  /** What it last came to. */
  readonly result: Result | undefined;
  /** Why it last came to nothing. */
  readonly error: Error | undefined;
  readonly isBusy: boolean;
  start(): void;
}

/** Something that is done when one asks for it, once at a time. */
export function useTask<Result>(run: () => Promise<Result>): Task<Result> {
  const [state, setState] = useState<Omit<Task<Result>, "start">>({
    result: undefined,
    error: undefined,
    isBusy: false,
  });
  const start = (): void => {
    setState(({ result }) => ({ result, error: undefined, isBusy: true }));
    run().then(
      (result) => setState({ result, error: undefined, isBusy: false }),
      (error: Error) => setState({ result: undefined, error, isBusy: false }),
    );
  };
  return { ...state, start };
}
