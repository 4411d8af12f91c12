/** The error envelope of both APIs (API v1, section 2). */
interface Envelope {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly request_id?: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

/** A response that is an error. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    /** 0: no response came. */
    readonly status: number,
    readonly code: string,
    message: string,
    /** To be quoted; empty where there was no response. */
    readonly requestId: string,
    readonly details: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }

  /** The session has ended, or was never there. */
  get isSignedOut(): boolean {
    return this.status === 401;
  }
}

interface Result<Data> {
  readonly data?: { readonly data: Data };
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of a successful response. @throws {ApiError} the response is an error, or none came */
export async function dataOf<Data>(call: Promise<Result<Data>>): Promise<Data> {
  let result: Result<Data>;
  try {
    result = await call;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "The server cannot be reached.", "", {});
  }
  if (result.data !== undefined) return result.data.data;
  const { code, message, request_id: requestId, details } = (result.error as Envelope | undefined)?.error ?? {};
  const { status } = result.response;
  throw new ApiError(
    status,
    code ?? "unreadable",
    message ?? `The server responded with ${status}.`,
    requestId ?? "",
    details ?? {},
  );
}
