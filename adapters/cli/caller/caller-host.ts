import type { CallerApi } from "./caller-api.js";

/** The address of a server and a key for it. */
export interface CallerServer {
  /** Without a slash at its end. */
  readonly url: string;
  readonly apiKey: string;
}

/** What the commands for callers need of the process around them. */
export interface CallerHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What relative paths are relative to. */
  readonly cwd: string;
  /** The user's home directory. */
  readonly home: string;
  /** Null where there is no terminal to ask on. */
  readonly ask: Ask | null;
  /** The first line of the standard input; null when it is empty. */
  readLine(): Promise<string | null>;
  /** Calls `listener` at each Ctrl-C, and with SIGTERM once. @returns ends that */
  onInterrupt(listener: (signal: "SIGINT" | "SIGTERM") => void): () => void;
  connect(server: CallerServer): Promise<CallerApi>;
  /** For files and for the receiver of `webhooks listen`; it sends no key. */
  readonly fetch: typeof fetch;
  /** The headers of Standard Webhooks. */
  signWebhook(message: SignedMessage): Promise<Readonly<Record<string, string>>>;
}

export interface SignedMessage {
  readonly eventId: string;
  readonly body: string;
  readonly secret: string;
}

/**
 * Asks on the terminal.
 *
 * @param options `isHidden`: what is typed is not shown; `signal` ends the question
 * @returns the line; null after Ctrl-C, at the end of the input, and once `signal` aborts
 */
export type Ask = (
  question: string,
  options?: { readonly isHidden?: boolean; readonly signal?: AbortSignal },
) => Promise<string | null>;
