import {
  type AcceptedJob,
  type CallerApi,
  CallerApiError,
  type CallerJob,
  type CallerModel,
  type CallerProgress,
  type CancelledJob,
  type EventPage,
  type GenerationInput,
  type SplitKind,
  type WaitOptions,
} from "../../adapters/cli/caller/caller-api.js";

export const A_MODEL: CallerModel = {
  id: "synth/instrumental",
  name: "Synth",
  supports_lyrics: false,
  supports_instrumental: true,
  duration: { minimum: 5, maximum: 60 },
  credit_cost: 10,
  status: "available",
  options: [{ name: "seed", type: "integer" }],
};

export const RENDERING: CallerProgress = { state: "rendering", waiting_before: null, percent: 40, ends_at: null };

/** A job that completed with one track. */
export const COMPLETED: CallerJob = {
  job_id: "job_1",
  operation: "music_synth_full",
  status: "completed",
  credits_charged: 10,
  outputs: [
    {
      type: "track",
      label: "full",
      track_id: "trk_1",
      url: "https://music.example/audio/1.mp3",
      content_type: "audio/mpeg",
      size_bytes: 5,
    },
  ],
};

/** A server of one account, whose jobs do what a test says. */
export class CallerApiDouble implements CallerApi {
  /** Requests that make jobs, with their keys. */
  readonly requests: object[] = [];
  readonly cancelled: string[] = [];
  offered: readonly CallerModel[] = [A_MODEL];
  /** What the next creation does. */
  accept = (): Promise<AcceptedJob> => Promise.resolve({ id: "job_1", status: "queued", credits_reserved: 10 });
  /** Called once a job is waited for. */
  onWait = (): void => undefined;
  ended: Promise<CallerJob> = Promise.resolve(COMPLETED);
  afterCancel: CancelledJob = {
    outcome: "cancelled",
    job: { ...COMPLETED, status: "failed", credits_charged: 0, outputs: [] },
  };
  pages: EventPage[] = [];

  async profile(): Promise<{ id: string; account_tier: string }> {
    return { id: "acct_1", account_tier: "pro" };
  }

  async credits() {
    return { available: 90, monthly_credits: 90, pack_credits: 0, total_spent: 10 };
  }

  async models(): Promise<readonly CallerModel[]> {
    return this.offered;
  }

  async search() {
    return {
      tracks: [{ id: "trk_1", title: "Rain", artist_label: "Synth" }],
      playlists: [{ id: "pls_1", title: "Calm", track_count: 1 }],
    };
  }

  createGeneration(input: GenerationInput, key: string): Promise<AcceptedJob> {
    this.requests.push({ ...input, key });
    return this.accept();
  }

  createSplit(trackId: string, kind: SplitKind, key: string): Promise<AcceptedJob> {
    this.requests.push({ trackId, kind, key });
    return this.accept();
  }

  async job(): Promise<CallerJob> {
    return this.ended;
  }

  async wait(_id: string, { onProgress }: WaitOptions): Promise<CallerJob> {
    onProgress(RENDERING);
    this.onWait();
    return this.ended;
  }

  async cancel(id: string): Promise<CancelledJob> {
    this.cancelled.push(id);
    return this.afterCancel;
  }

  async events(): Promise<EventPage> {
    const page = this.pages.shift();
    if (page === undefined) throw new CallerApiError("invalid_api_key", 401, "The API key is not valid.");
    return page;
  }
}
