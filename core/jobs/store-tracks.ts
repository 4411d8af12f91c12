import type { JobId } from "../ids.js";
import { titleFromPrompt, type Track, type TrackAsset } from "../library/track.js";
import { type AudioStore, AudioTooLargeError, type StoredAudio } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import { type AssetSource, ProviderFailure, type ProviderAsset, type ProviderTrack } from "../ports/music-provider.js";
import type { Job } from "./job.js";

const EXTENSIONS: Readonly<Record<ProviderAsset["contentType"], string>> = {
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/ogg": "ogg",
  "audio/mp4": "m4a",
  "image/png": "png",
  "image/jpeg": "jpg",
};

/** Where everything that a job leaves is stored. */
export function audioPrefix(jobId: JobId): string {
  return jobId;
}

/** Copies what a provider made into the AudioStore: part of success, since a provider's own copies vanish. */
export class StoreTracks {
  constructor(
    private readonly audio: AudioStore,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly maxBytes: number,
  ) {}

  /**
   * Keys carry the job's fence, so that a worker that lost its lease never writes over what its successor stored.
   *
   * @throws {ProviderFailure} `failed` when there is nothing playable, or more than may be stored
   */
  async store(job: Job, artistLabel: string, made: readonly ProviderTrack[]): Promise<Track[]> {
    if (made.length === 0) throw new ProviderFailure("failed", "The provider reported success without a track.");
    const tracks: Track[] = [];
    for (const [position, track] of made.entries()) {
      if (!track.assets.some((asset) => asset.role === "mix")) {
        throw new ProviderFailure("failed", `Track ${position} came without a mix.`);
      }
      const assets: TrackAsset[] = [];
      for (const asset of track.assets) assets.push(await this.storeAsset(job, position, asset));
      tracks.push({
        id: this.ids.next("trk"),
        accountId: job.accountId,
        jobId: job.id,
        position,
        title: track.title ?? titleFromPrompt(job.request.prompt),
        artistLabel,
        bpm: track.bpm === null ? null : Math.round(track.bpm),
        prompt: job.request.prompt,
        visibility: "private",
        tags: track.tags,
        assets,
        createdAt: this.clock.now(),
      });
    }
    return tracks;
  }

  /** Throws away what was stored for a job, or only what was stored under one fence. */
  async discard(job: Job, fence?: number): Promise<void> {
    await this.audio.deleteAll(fence === undefined ? audioPrefix(job.id) : `${audioPrefix(job.id)}/${fence}`);
  }

  private async storeAsset(job: Job, position: number, asset: ProviderAsset): Promise<TrackAsset> {
    const name = asset.label === "full" ? asset.role : `${asset.role}-${asset.label.replace(/[^a-z0-9]+/g, "-")}`;
    const audioKey = `${audioPrefix(job.id)}/${job.fence}/${position}-${name}.${EXTENSIONS[asset.contentType]}`;
    const stored = await this.put(audioKey, asset.source);
    return {
      role: asset.role,
      label: asset.label,
      audioKey,
      contentType: asset.contentType,
      sizeBytes: stored.sizeBytes,
      durationSeconds: asset.durationSeconds,
    };
  }

  private async put(audioKey: string, source: AssetSource): Promise<StoredAudio> {
    try {
      return await this.audio.put(audioKey, source.kind === "bytes" ? source.bytes : source.open(), this.maxBytes);
    } catch (error) {
      if (!(error instanceof AudioTooLargeError)) throw error;
      throw new ProviderFailure("failed", error.message, { cause: error });
    }
  }
}
