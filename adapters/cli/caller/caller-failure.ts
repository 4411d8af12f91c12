export const EXIT_INTERRUPTED = 130;

/** Ends a command for callers with a message and an exit code. */
export class CallerFailure extends Error {
  override readonly name = "CallerFailure";
  readonly exitCode: number;
  readonly details?: object;

  /** @param code of the API, or `failed`, `timeout` or `interrupted` */
  constructor(
    readonly code: string,
    message: string,
    { exitCode = 1, details, cause }: { exitCode?: number; details?: object | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.exitCode = exitCode;
    if (details !== undefined) this.details = details;
  }
}

/** One that has happened already, with a hint added to its message. */
export function withHint(error: unknown, hint: string): CallerFailure {
  const { code = "failed", details } = error as { readonly code?: string; readonly details?: object };
  const message = error instanceof Error ? error.message : String(error);
  return new CallerFailure(code, `${message}\n${hint}`, { details, cause: error });
}
