import type { FinalState } from "../../support/nemesis/final-state.js";
import type { Action, Entry } from "../../support/nemesis/history.js";

/** The same without `readonly`, for planting. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] extends object ? Mutable<T[Name]> : T[Name] };

export interface PlantedRun {
  readonly history: Mutable<Entry>[];
  readonly final: Mutable<FinalState>;
}

export const ALICE = "acct_alice";
export const BOB = "acct_bob";

/** An entry of {@link ALICE} that succeeded. */
export function anEntry(
  invokedAt: number,
  endedAt: number,
  action: Action,
  overrides: Partial<Entry> = {},
): Mutable<Entry> {
  const usual = { client: "client 0", server: "serve 0", accountId: ALICE, outcome: "ok", status: 200 } as const;
  return { ...usual, invokedAt, endedAt, action, ...overrides };
}

/** No response. */
export const UNKNOWN = { outcome: "unknown", status: null } as const;

export function create(key: string, jobId: string | null): Action {
  const response = jobId === null ? null : `{"data":{"id":"${jobId}"}}`;
  return { kind: "create", key, isSplit: false, jobId, response };
}

export function get(jobId: string, status: string, charged: number): Action {
  return { kind: "get", jobId, seen: { id: jobId, status, charged } };
}

export function credits(available: number, spent: number): Action {
  return { kind: "credits", seen: { available, spent } };
}

/** The run of a correct installation: one job completes, one fails, one is cancelled; another account has one, too. */
export function aRun(): PlantedRun {
  const seen = (id: string, status: string, charged: number) => ({ id, status, charged });
  const history = [
    anEntry(0, 10, credits(100, 0)),
    anEntry(20, 30, create("key-1", null), UNKNOWN),
    anEntry(40, 50, create("key-1", "job_1")),
    anEntry(60, 70, credits(99, 0)),
    anEntry(80, 90, create("key-2", "job_2")),
    anEntry(100, 110, { kind: "list", limit: 50, seen: [seen("job_2", "queued", 1), seen("job_1", "processing", 1)] }),
    anEntry(120, 130, get("job_1", "processing", 1)),
    anEntry(140, 150, get("job_1", "completed", 1)),
    anEntry(160, 170, create("key-3", "job_3")),
    anEntry(180, 190, { kind: "cancel", jobId: "job_3", result: "cancelled", seen: seen("job_3", "failed", 0) }),
    anEntry(200, 210, get("job_2", "failed", 0)),
    anEntry(220, 230, { kind: "grant", reference: "order-1", amount: 5 }),
    anEntry(240, 250, credits(104, 1)),
    anEntry(260, 270, create("key-1", "job_1")),
    anEntry(280, 290, create("key-4", null), { outcome: "refused", status: 402 }),
    anEntry(300, 310, create("key-5", "job_5"), { accountId: BOB }),
    anEntry(320, 330, get("job_5", "completed", 1), { accountId: BOB }),
  ];
  const job = (id: string, key: string, status: string, accountId = ALICE) => {
    const createdAt = Number(key.replace("key-", ""));
    return { id, accountId, key, status, charged: status === "completed" ? 1 : 0, createdAt };
  };
  const jobs = [
    job("job_1", "key-1", "completed"),
    job("job_2", "key-2", "failed"),
    job("job_3", "key-3", "failed"),
    job("job_5", "key-5", "completed", BOB),
  ];
  const row = (kind: string, jobId: string | null, available: number, spent: number, accountId = ALICE) => {
    return { accountId, seq: 0, kind, jobId, reference: null as string | null, available, spent };
  };
  const alice = [
    row("grant", null, 100, 0),
    row("reserve", "job_1", -1, 0),
    row("reserve", "job_2", -1, 0),
    row("charge", "job_1", 0, 1),
    row("reserve", "job_3", -1, 0),
    row("refund", "job_3", 1, 0),
    row("refund", "job_2", 1, 0),
    { ...row("grant", null, 5, 0), reference: "order-1" },
  ];
  const bob = [row("grant", null, 100, 0, BOB), row("reserve", "job_5", -1, 0, BOB), row("charge", "job_5", 0, 1, BOB)];
  const numbered = [alice, bob].flatMap((rows) => rows.map((one, index) => ({ ...one, seq: index + 1 })));
  const work = (id: string, jobId: string, state: FinalState["purchases"][number]["state"]) => {
    return { id, jobId, state, isDelivered: state === "finished" };
  };
  const urls = [ALICE, BOB].flatMap((accountId) =>
    ["one", "two"].map((name) => ({ accountId, url: `${name}/${accountId}` })),
  );
  const events = jobs.map(({ id, status }) => ({ id: `evt_${id}`, jobId: id, type: `generation.${status}` }));
  const received = events.flatMap(({ id, jobId, type }) => {
    const { accountId, status } = jobs.find((one) => one.id === jobId) as (typeof jobs)[0];
    const own = urls.filter((endpoint) => endpoint.accountId === accountId);
    return own.map(({ url }) => ({ url, eventId: id, type, jobId, jobStatus: status, isTaken: true }));
  });
  const final: FinalState = {
    jobs,
    entries: numbered,
    purchases: [
      work("work-1", "job_1", "finished"),
      work("work-2", "job_2", "lost"),
      work("work-3", "job_3", "cancelled"),
      work("work-5", "job_5", "finished"),
    ],
    events,
    endpoints: urls,
    received,
    left: [],
  };
  return { history, final: final as Mutable<FinalState> };
}
