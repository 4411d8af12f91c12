import type { JobId } from "../ids.js";
import type { DeriveAssets } from "../library/derive-assets.js";
import { toLyrics, type NewTrack } from "../library/lyrics.js";
import { titleOf, type Track, type TrackAsset } from "../library/track.js";
import type { AudioStore } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import { ProviderFailure, type ProviderAsset, type ProviderTrack } from "../ports/music-provider.js";
import { isLasting } from "../attempts/retry-policy.js";
import type { Job, JobOutput } from "../jobs/job.js";
import type { StoreAsset } from "./store-asset.js";

/** Where everything that a job leaves is stored. */
export function audioPrefix(jobId: JobId): string {
  return jobId;
}

export interface StoredTracks {
  readonly tracks: readonly NewTrack[];
  /** Files that could not be fetched, with the reason, for operators; empty when all were stored. */
  readonly missing: readonly string[];
}

export interface StoreTracksDeps {
  readonly audio: AudioStore;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly storeAsset: StoreAsset;
  readonly derived: Pick<DeriveAssets, "deriveFor">;
}

/** Copies a provider's files into the AudioStore: a job completes only then, because providers delete their copies. */
export class StoreTracks {
  constructor(private readonly deps: StoreTracksDeps) {}

  /**
   * Keys carry the job's fence, so that a worker that lost its lease never writes over what its successor stored. A
   * track is kept when its mix is; what else of it cannot be had is left out, and so is a track without a mix as long
   * as another one is kept.
   *
   * @param isPlain true: nothing is derived from the audio
   * @throws {ProviderFailure} of a lasting kind when no track can be kept
   */
  async store(
    job: Job,
    artistLabel: string,
    created: readonly ProviderTrack[],
    isPlain: boolean,
    signal: AbortSignal,
  ): Promise<StoredTracks> {
    const tracks: NewTrack[] = [];
    const missing: string[] = [];
    let firstFailure: ProviderFailure | null = null;
    for (const [position, track] of created.entries()) {
      try {
        const { assets, missing: lost } = await this.storeAssets(job, position, track.assets, signal);
        missing.push(...lost);
        const plain = this.toTrack(job, position, artistLabel, track, assets);
        const stored = isPlain ? plain : await this.deps.derived.deriveFor(plain, signal);
        tracks.push({ lyrics: toLyrics(track.lyrics), ...stored });
      } catch (error) {
        if (!isLasting(error)) throw error;
        firstFailure ??= error;
        missing.push(error.message);
      }
    }
    if (tracks.length > 0) return { tracks, missing };
    throw firstFailure ?? new ProviderFailure("failed", "The provider reported success without a track.");
  }

  private async storeAssets(
    job: Job,
    position: number,
    assets: readonly ProviderAsset[],
    signal: AbortSignal,
  ): Promise<{ readonly assets: readonly TrackAsset[]; readonly missing: readonly string[] }> {
    const stored: TrackAsset[] = [];
    const missing: string[] = [];
    if (!assets.some(({ role }) => role === "mix"))
      throw new ProviderFailure("failed", `Track ${position} came without a file of the role mix.`);
    for (const asset of assets) {
      try {
        stored.push(await this.deps.storeAsset.store(keyPrefix(job, position), job.providerId, asset, signal));
      } catch (error) {
        if (!isLasting(error)) throw error;
        const failure = named(error, `The ${asset.role} ${asset.label} of track ${position}`);
        if (asset.role === "mix") throw failure;
        missing.push(failure.message);
      }
    }
    return { assets: stored, missing };
  }

  private toTrack(
    job: Job,
    position: number,
    artistLabel: string,
    created: ProviderTrack,
    assets: readonly TrackAsset[],
  ): Track {
    return {
      id: this.deps.ids.next("trk"),
      accountId: job.accountId,
      jobId: job.id,
      position,
      title: titleOf(created.title, job.request.prompt),
      artistLabel,
      bpm: created.bpm === null ? null : Math.round(created.bpm),
      prompt: job.request.prompt,
      visibility: "private",
      tags: created.tags,
      assets,
      waveform: null,
      shareToken: null,
      linkGeneration: 0,
      origin: { providerId: job.providerId, reference: created.reference ?? null },
      createdAt: this.deps.clock.now(),
    };
  }

  /** Deletes what was stored for a job, or only what was stored under one fence. */
  async discard(jobId: JobId, fence?: number): Promise<void> {
    await this.deps.audio.deleteAll(fence === undefined ? audioPrefix(jobId) : `${audioPrefix(jobId)}/${fence}`);
  }

  /**
   * Stores the files of a split.
   *
   * @throws {ProviderFailure} `failed` when there are none, two of one name, or more than may be stored
   */
  async storeStems(job: Job, stems: readonly ProviderAsset[], signal: AbortSignal): Promise<JobOutput[]> {
    if (stems.length === 0) throw new ProviderFailure("failed", "The provider reported success without a stem.");
    if (new Set(stems.map(({ label }) => label)).size < stems.length)
      throw new ProviderFailure("failed", "The provider named two stems alike.");
    const outputs: JobOutput[] = [];
    for (const [position, stem] of stems.entries()) {
      const asset = { ...stem, role: "stem" as const };
      try {
        const { storeAsset } = this.deps;
        const stored = await storeAsset.store(keyPrefix(job, position), job.providerId, asset, signal);
        const { role: _role, ...output } = stored;
        outputs.push(output);
      } catch (error) {
        throw isLasting(error) ? named(error, `The stem ${stem.label}`) : error;
      }
    }
    return outputs;
  }
}

function keyPrefix(job: Job, position: number): string {
  return `${audioPrefix(job.id)}/${job.fence}/${position}`;
}

/** The failure with the name of its file in front. */
function named(failure: ProviderFailure, file: string): ProviderFailure {
  const { kind, message, billable, retryAfterMs, providerCode, requestId } = failure;
  return new ProviderFailure(kind, `${file}: ${message}`, {
    billable,
    retryAfterMs: retryAfterMs ?? undefined,
    providerCode: providerCode ?? undefined,
    requestId: requestId ?? undefined,
    cause: failure,
  });
}
