/** A job as a response shows it. */
export interface SeenJob {
  readonly id: string;
  readonly status: string;
  readonly charged: number;
}

/** What a client did, and what it learned by it. */
export type Action =
  | {
      readonly kind: "create";
      /** The idempotency key; also the `client` of the body, so that the rows name it. */
      readonly key: string;
      readonly isSplit: boolean;
      /** The job that the response names, and the response; null without one. */
      readonly jobId: string | null;
      readonly response: string | null;
    }
  | { readonly kind: "cancel"; readonly jobId: string; readonly result: string | null; readonly seen: SeenJob | null }
  | { readonly kind: "get"; readonly jobId: string; readonly seen: SeenJob | null }
  | { readonly kind: "list"; readonly limit: number; readonly seen: readonly SeenJob[] | null }
  | { readonly kind: "credits"; readonly seen: { readonly available: number; readonly spent: number } | null }
  | { readonly kind: "grant"; readonly reference: string; readonly amount: number };

/**
 * `ok`: a success. `refused`: an error of the caller's; nothing was done. `unknown`: no response, or one that leaves it
 * open whether it was done.
 */
export type Outcome = "ok" | "refused" | "unknown";

/** A request of a client. Times are in milliseconds since the beginning of the run. */
export interface Entry {
  readonly client: string;
  readonly server: string;
  readonly accountId: string;
  readonly invokedAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
  /** null: without a response */
  readonly status: number | null;
  readonly action: Action;
}

export type EntryOf<Kind extends Action["kind"]> = Entry & { readonly action: Extract<Action, { kind: Kind }> };

/** The entries of one kind. */
export function entriesOf<Kind extends Action["kind"]>(history: readonly Entry[], kind: Kind): EntryOf<Kind>[] {
  return history.filter((entry): entry is EntryOf<Kind> => entry.action.kind === kind);
}

/** What an entry shows of jobs. */
export function seenIn({ action }: Entry): readonly SeenJob[] {
  if (action.kind === "list") return action.seen ?? [];
  return (action.kind === "get" || action.kind === "cancel") && action.seen !== null ? [action.seen] : [];
}

/** Whether an entry concerns this job, or the key that it was created with. */
export function concerns(entry: Entry, jobId: string, key: string | null): boolean {
  const { action } = entry;
  if (action.kind === "create") return action.jobId === jobId || action.key === key;
  return ("jobId" in action && action.jobId === jobId) || seenIn(entry).some(({ id }) => id === jobId);
}

/** An entry in one line. */
export function lineOf(entry: Entry, jobId?: string): string {
  const { client, server, accountId, invokedAt, endedAt, outcome, status } = entry;
  const where = `${seconds(invokedAt)}-${seconds(endedAt)} s ${client} (${accountId}) at ${server}`;
  return `${where}: ${wordsOf(entry, jobId)}: ${outcome} ${status ?? ""}`.trimEnd();
}

/** Seconds, with three decimals. */
export function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}

function wordsOf(entry: Entry, jobId?: string): string {
  const { action } = entry;
  const seen = seenIn(entry).filter(({ id }) => jobId === undefined || id === jobId);
  const shown = seen.map(({ id, status, charged }) => `${id} is ${status}, charged ${charged}`).join("; ");
  switch (action.kind) {
    case "create":
      return `create with key ${action.key} -> ${action.jobId}`;
    case "cancel":
      return `cancel ${action.jobId} -> ${action.result}: ${shown}`;
    case "get":
      return `get ${action.jobId} -> ${shown}`;
    case "list":
      return `list -> ${action.seen?.length} jobs: ${shown.slice(0, 300)}`;
    case "credits":
      return `credits -> ${JSON.stringify(action.seen)}`;
    case "grant":
      return `grant ${action.amount} by reference ${action.reference}`;
  }
}
