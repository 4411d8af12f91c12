import type { AudioAnalyser, AudioAnalysis } from "../ports/audio-analyser.js";
import type { AudioStore } from "../ports/audio-store.js";
import type { CoverPainter } from "../ports/cover-painter.js";
import type { Logger } from "../ports/logger.js";
import { assetOf, type Track, type TrackAsset } from "./track.js";

export interface DeriveAssetsDeps {
  readonly audio: AudioStore;
  readonly analyser: AudioAnalyser;
  readonly covers: CoverPainter;
  readonly logger: Logger;
  /** For each file that is derived. */
  readonly maxBytes: number;
}

/** The name of a role's file, next to the mix. */
const FILE_NAMES = { preview: "preview.mp3", cover: "cover.png" } as const;

/** Derives what a track's source left out: length, waveform, preview and cover. What cannot be derived stays out. */
export class DeriveAssets {
  constructor(private readonly deps: DeriveAssetsDeps) {}

  /** Whether files are decoded, some of which may bring the process down. */
  get decodes(): boolean {
    return this.deps.analyser.decodes ?? true;
  }

  /**
   * Adds what is missing to a track whose mix is stored already, and stores the new files next to that mix; a track
   * without a mix is left as it is. What is there already is never replaced. Never fails for the audio's sake: what
   * went wrong is logged.
   *
   * @throws the signal's reason once it is aborted
   */
  async deriveFor(track: Track, signal?: AbortSignal): Promise<Track> {
    const mix = assetOf(track, "mix");
    if (mix === null) return track;
    const analysis = await this.attempt(track, "listened to", () => this.analyse(track, mix, signal));
    return this.complete(track, mix, analysis, signal);
  }

  /**
   * The same, of a track whose mix must be audio.
   *
   * @returns null when nothing here can decode it
   * @throws {AudioUnreadableError} it is broken, holds no sound, or takes more time or memory than it may
   */
  async deriveOfReadable(track: Track, mix: TrackAsset): Promise<Track | null> {
    const analysis = await this.analyse(track, mix, undefined);
    return analysis === null ? null : this.complete(track, mix, analysis, undefined);
  }

  private async complete(
    track: Track,
    mix: TrackAsset,
    analysis: AudioAnalysis | null,
    signal: AbortSignal | undefined,
  ): Promise<Track> {
    signal?.throwIfAborted();
    const preview = analysis?.preview ?? null;
    const created = [
      preview === null
        ? null
        : await this.attempt(track, "given a preview", () => this.store(mix, { role: "preview", ...preview })),
      assetOf(track, "cover") === null
        ? await this.attempt(track, "given a cover", () => this.paint(track, mix))
        : null,
    ];
    const durationSeconds = mix.durationSeconds ?? analysis?.durationSeconds ?? null;
    return {
      ...track,
      waveform: track.waveform ?? (analysis === null ? null : Uint8Array.from(analysis.waveform)),
      assets: [
        ...track.assets.map((asset) => (asset === mix ? { ...mix, durationSeconds } : asset)),
        ...created.filter((asset) => asset !== null),
      ],
    };
  }

  private async analyse(track: Track, mix: TrackAsset, signal: AbortSignal | undefined): Promise<AudioAnalysis | null> {
    const preview = assetOf(track, "preview") === null;
    if (!preview && track.waveform !== null && mix.durationSeconds !== null) return null;
    return this.deps.analyser.analyse(this.deps.audio.read(mix.audioKey), {
      preview,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  private async paint({ id, tags }: Track, mix: TrackAsset): Promise<TrackAsset> {
    const bytes = await this.deps.covers.paint({ seed: id, tags });
    return this.store(mix, { role: "cover", bytes, contentType: "image/png", durationSeconds: null });
  }

  private async store(mix: TrackAsset, { bytes, role, ...created }: DerivedFile): Promise<TrackAsset> {
    const audioKey = alongsideMix(mix.audioKey, FILE_NAMES[role]);
    const { sizeBytes } = await this.deps.audio.put(audioKey, bytes, this.deps.maxBytes);
    return {
      role,
      label: "full",
      audioKey,
      contentType: created.contentType,
      sizeBytes,
      durationSeconds: created.durationSeconds,
    };
  }

  private async attempt<T>(track: Track, what: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.deps.logger.warn(`A track could not be ${what}`, { error, track_id: track.id, job_id: track.jobId });
      return null;
    }
  }
}

interface DerivedFile extends Pick<TrackAsset, "contentType" | "durationSeconds"> {
  readonly role: keyof typeof FILE_NAMES;
  readonly bytes: Uint8Array;
}

/** `job_1/2/0-mix.mp3` has its preview in `job_1/2/0-preview.mp3`. */
function alongsideMix(mixKey: string, name: string): string {
  const start = mixKey.lastIndexOf("/") + 1;
  const [, before] = /^(.*?)mix\.[^.]*$/.exec(mixKey.slice(start)) ?? [];
  return `${mixKey.slice(0, start)}${before ?? `${mixKey.slice(start)}-`}${name}`;
}
