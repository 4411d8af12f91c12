import type { RecordsActions } from "../audit/audit-trail.js";
import type { Balance, LedgerEntry } from "../credits/balance.js";
import { UnknownObjectError } from "../errors.js";
import { type AccountId, isId, type PlaylistId, type TrackId } from "../ids.js";
import type { JobOutput } from "../jobs/job.js";
import { type ShownJob, shownJob } from "../jobs/shown-job.js";
import type { Lyrics } from "../library/lyrics.js";
import type { Playlist } from "../library/playlist.js";
import type { Track } from "../library/track.js";
import type { Account } from "../ports/account.js";
import type { AccountStore } from "../ports/account-store.js";
import type { AuditLog } from "../ports/audit-log.js";
import type { AuditRecord } from "../ports/audit-record.js";
import type { AudioStore } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import type { ErasureStore } from "../ports/erasure-store.js";
import type { JobStore } from "../ports/job-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { LoggedRequest } from "../ports/request-log.js";
import type { CountedRequests, RequestLogStore } from "../ports/request-log-store.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import type { WebhookEvent } from "../ports/webhook-records.js";
import { type ShownEndpoint, shownEndpoint } from "../webhooks/shown-endpoint.js";
import { type ShownKey, shownKey } from "./shown-key.js";

/** One thing that is kept of an account. */
export type ExportedRecord =
  | { readonly type: "export"; readonly version: 1; readonly accountId: AccountId; readonly at: number }
  | { readonly type: "account"; readonly account: Account; readonly balance: Balance | null }
  | { readonly type: "key"; readonly key: ShownKey }
  | { readonly type: "ledger_entry"; readonly entry: LedgerEntry }
  | { readonly type: "job"; readonly job: ShownJob; readonly outputs: readonly JobOutput[] }
  | { readonly type: "track"; readonly track: Track; readonly lyrics: Lyrics | null }
  | { readonly type: "playlist"; readonly playlist: Playlist }
  | { readonly type: "webhook_endpoint"; readonly endpoint: ShownEndpoint }
  | { readonly type: "webhook_event"; readonly event: WebhookEvent }
  | { readonly type: "request"; readonly request: LoggedRequest }
  | { readonly type: "request_count"; readonly counted: CountedRequests }
  | { readonly type: "audit_record"; readonly record: AuditRecord }
  /** The last one; an export without it was cut off. */
  | { readonly type: "end"; readonly records: number };

export interface ExportAccountDeps {
  readonly accounts: Pick<AccountStore, "findAccounts" | "listKeys">;
  readonly ledger: Pick<LedgerStore, "findBalances" | "listEntries">;
  readonly jobs: Pick<JobStore, "listJobs" | "outputsOf">;
  readonly library: Pick<LibraryStore, "findTracks" | "findLyrics" | "findPlaylists">;
  readonly erasures: Pick<ErasureStore, "listTracks" | "listPlaylists">;
  readonly webhooks: Pick<WebhookStore, "listEndpoints" | "listEvents">;
  readonly requestLog: Pick<RequestLogStore, "list" | "listCounts">;
  readonly auditLog: Pick<AuditLog, "list">;
  readonly audio: Pick<AudioStore, "read" | "stat">;
  readonly audit: Pick<RecordsActions, "note">;
  readonly clock: Clock;
}

/** Read at once: an export holds no more of an account than this in memory, however much there is. */
const PAGE = 200;

/** Everything that is kept of an account, for a person who asks for it. */
export class ExportAccount {
  constructor(private readonly deps: ExportAccountDeps) {}

  /**
   * What is kept of the account, page by page, each as it is when it is read. It is recorded that it was exported.
   *
   * @throws {UnknownObjectError} no such account
   */
  async open(id: string): Promise<AsyncGenerator<readonly ExportedRecord[]>> {
    const account = isId("acct", id) ? (await this.deps.accounts.findAccounts([id])).get(id) : undefined;
    if (account === undefined) throw new UnknownObjectError(`There is no account ${id}.`);
    await this.deps.audit.note({
      action: "accounts.export",
      accountId: account.id,
      targets: [account.id],
      fields: {},
    });
    return this.pages(account);
  }

  /** Whether a file that an export names is stored. */
  async hasFile(audioKey: string): Promise<boolean> {
    return (await this.deps.audio.stat(audioKey)) !== null;
  }

  /** The bytes of a file that a track or an output of an export names. */
  readFile(audioKey: string): AsyncIterable<Uint8Array> {
    return this.deps.audio.read(audioKey);
  }

  private async *pages(account: Account): AsyncGenerator<readonly ExportedRecord[]> {
    const { clock, ledger, accounts, webhooks } = this.deps;
    const { id } = account;
    let records = 0;
    const counted = (page: readonly ExportedRecord[]): readonly ExportedRecord[] => {
      records += page.length;
      return page;
    };
    const balance = (await ledger.findBalances([id])).get(id) ?? null;
    yield counted([
      { type: "export", version: 1, accountId: id, at: clock.now() },
      { type: "account", account, balance },
      ...(await accounts.listKeys(id)).map((key) => ({ type: "key", key: shownKey(key) }) as const),
      ...(await webhooks.listEndpoints(id)).map(
        (endpoint) => ({ type: "webhook_endpoint", endpoint: shownEndpoint(endpoint) }) as const,
      ),
    ]);
    const parts = [this.entries(id), this.jobs(id), this.tracks(id), this.playlists(id), this.events(id)];
    for (const part of [...parts, this.requests(id), this.requestCounts(id), this.auditRecords(id)])
      for await (const page of part) yield counted(page);
    yield [{ type: "end", records: records + 1 }];
  }

  private async *entries(id: AccountId): AsyncGenerator<readonly ExportedRecord[]> {
    for (let before: number | undefined; ;) {
      const page = await this.deps.ledger.listEntries(id, PAGE, before);
      yield page.map((entry) => ({ type: "ledger_entry", entry }));
      before = page.at(-1)?.seq;
      if (page.length < PAGE || before === undefined) return;
    }
  }

  private async *jobs(id: AccountId): AsyncGenerator<readonly ExportedRecord[]> {
    const { jobs } = this.deps;
    for (let after: ShownJob | undefined; ;) {
      const filter = after === undefined ? {} : { after };
      const page = (await jobs.listJobs({ accountId: id, ...filter, limit: PAGE })).map(shownJob);
      const outputs = await jobs.outputsOf(page.map((job) => job.id));
      yield page.map((job) => ({ type: "job", job, outputs: outputs.get(job.id) ?? [] }));
      after = page.at(-1);
      if (page.length < PAGE) return;
    }
  }

  private async *tracks(id: AccountId): AsyncGenerator<readonly ExportedRecord[]> {
    const { erasures, library } = this.deps;
    for (let after: TrackId | null = null; ;) {
      const ids: readonly TrackId[] = (await erasures.listTracks(id, after, PAGE)).map((track) => track.id);
      const found = await library.findTracks(ids);
      const page: ExportedRecord[] = [];
      for (const track of ids.flatMap((trackId) => found.get(trackId) ?? []))
        page.push({ type: "track", track, lyrics: await library.findLyrics(track.id) });
      yield page;
      after = ids.at(-1) ?? null;
      if (ids.length < PAGE) return;
    }
  }

  private async *playlists(id: AccountId): AsyncGenerator<readonly ExportedRecord[]> {
    const { erasures, library } = this.deps;
    for (let after: PlaylistId | null = null; ;) {
      const ids: readonly PlaylistId[] = await erasures.listPlaylists(id, after, PAGE);
      const found = await library.findPlaylists(ids);
      yield ids.flatMap((one) => found.get(one) ?? []).map((playlist) => ({ type: "playlist", playlist }));
      after = ids.at(-1) ?? null;
      if (ids.length < PAGE) return;
    }
  }

  private async *events(id: AccountId): AsyncGenerator<readonly ExportedRecord[]> {
    for (let after: number | null = 0; after !== null;) {
      const page: readonly WebhookEvent[] = await this.deps.webhooks.listEvents(id, after, PAGE);
      yield page.map((event) => ({ type: "webhook_event", event }));
      after = page.length < PAGE ? null : (page.at(-1)?.number ?? null);
    }
  }

  /** The newest first. Those of one moment may be on two pages: they differ by their ids. */
  private async *requests(id: AccountId): AsyncGenerator<readonly ExportedRecord[]> {
    const query = { accountId: id, from: 0 };
    let shown = new Set<string>();
    for (let to = this.deps.clock.now() + 1, limit = PAGE; ;) {
      const page = await this.deps.requestLog.list({ ...query, to }, limit);
      const fresh = page.filter((request) => !shown.has(request.id));
      yield fresh.map((request) => ({ type: "request", request }));
      const last = page.at(-1)?.createdAt;
      if (page.length < limit || last === undefined) return;
      shown = new Set(page.filter(({ createdAt }) => createdAt === last).map((request) => request.id));
      // More of one moment than a page holds.
      limit = shown.size === page.length ? 2 * limit : PAGE + shown.size;
      to = last + 1;
    }
  }

  private async *requestCounts(id: AccountId): AsyncGenerator<readonly ExportedRecord[]> {
    for (let after: CountedRequests | null = null; ;) {
      const page: readonly CountedRequests[] = await this.deps.requestLog.listCounts(id, PAGE, after);
      yield page.map((counted) => ({ type: "request_count", counted }));
      after = page.at(-1) ?? null;
      if (page.length < PAGE) return;
    }
  }

  private async *auditRecords(id: AccountId): AsyncGenerator<readonly ExportedRecord[]> {
    for (let before: number | undefined; ;) {
      const filter = before === undefined ? {} : { before };
      const page = await this.deps.auditLog.list({ accountId: id, ...filter, limit: PAGE });
      yield page.map((record) => ({ type: "audit_record", record }));
      before = page.at(-1)?.number;
      if (page.length < PAGE || before === undefined) return;
    }
  }
}
