import { type AccountId, isId } from "../ids.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Track } from "./track.js";

/** As long as a key's holder is kept: a suspension holds within 1 s in every process. */
const FRESH_MS = 900;

export interface PublicLinksDeps {
  readonly accounts: Pick<AccountStore, "listSuspended">;
  readonly jobs: Pick<JobStore, "findJobs">;
  readonly library: Pick<LibraryStore, "findSharedTrack" | "findTracks">;
  readonly clock: Clock;
}

/** What links without an API key lead to: nothing while the account is suspended that it belongs to. */
export class PublicLinks {
  private latest: { readonly readAt: number; readonly suspended: Promise<ReadonlySet<AccountId>> } | null = null;

  constructor(private readonly deps: PublicLinksDeps) {}

  /** The track that is shared under this token; null when none is, or its account is suspended. */
  async findSharedTrack(shareToken: string): Promise<Track | null> {
    const track = await this.deps.library.findSharedTrack(shareToken);
    if (track === null || track.accountId === null) return track;
    return (await this.suspended()).has(track.accountId) ? null : track;
  }

  /** Whether the account of this stored file is suspended; false for a file without an owner, or of no known track. */
  async isSuspended(audioKey: string): Promise<boolean> {
    const suspended = await this.suspended();
    // Nearly always none is, and nothing has to be looked up for each file that is played.
    if (suspended.size === 0) return false;
    const owner = await this.ownerOf(audioKey);
    return owner !== null && suspended.has(owner);
  }

  /** A file is stored under the id of the job or the imported track that it came with. */
  private async ownerOf(audioKey: string): Promise<AccountId | null> {
    const [prefix = ""] = audioKey.split("/");
    const { jobs, library } = this.deps;
    if (isId("job", prefix)) return (await jobs.findJobs([prefix])).get(prefix)?.accountId ?? null;
    if (isId("trk", prefix)) return (await library.findTracks([prefix])).get(prefix)?.accountId ?? null;
    return null;
  }

  private suspended(): Promise<ReadonlySet<AccountId>> {
    const now = this.deps.clock.now();
    const { latest } = this;
    if (latest !== null && now >= latest.readAt && now - latest.readAt < FRESH_MS) return latest.suspended;
    const suspended = this.deps.accounts.listSuspended().then((ids) => new Set(ids));
    const reading = { readAt: now, suspended };
    this.latest = reading;
    suspended.catch(() => {
      if (this.latest === reading) this.latest = null;
    });
    return suspended;
  }
}
