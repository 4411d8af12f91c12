import { assert } from "../assert.js";
import type { RequestIssue } from "../errors.js";
import type { CallbackUrls } from "../providers/callback-urls.js";
import type { AttemptId } from "../ids.js";
import type { AudioUrls } from "../library/audio-urls.js";
import type { Track } from "../library/track.js";
import type { Catalogue, Model } from "../providers/catalogue.js";
import type { AudioStore } from "../ports/audio-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import {
  type AssetContentType,
  type MusicReference,
  type ProviderCapabilities,
  ProviderFailure,
  type SourceAudio,
  type SplitRequest,
  type SubmitRequest,
} from "../ports/music-provider.js";
import type { Job, SplitKind } from "../jobs/job.js";
import { optionIssues, withDefaults } from "../providers/request-options.js";
import { capabilityOf } from "../providers/routes.js";
import { referenceIssues, sourceFileOf } from "../providers/sources.js";

export interface BuildRequestDeps {
  readonly catalogue: Catalogue;
  readonly library: LibraryStore;
  readonly audio: AudioStore;
  readonly audioUrls: AudioUrls;
  readonly callbackUrls: CallbackUrls;
}

/** A link to a source lives as long as a provider may queue. */
const SOURCE_URL_TTL_MS = 24 * 3_600_000;

/** Builds the request for the provider of a job. */
export class BuildRequest {
  constructor(private readonly deps: BuildRequestDeps) {}

  /** @throws {ProviderFailure} `failed` when the job's track, its model, or an option of the model no longer exists */
  async build(
    job: Job,
    capabilities: ProviderCapabilities,
    attemptId: AttemptId,
    attempt: number,
  ): Promise<SubmitRequest> {
    const common = {
      jobId: job.id,
      attemptId,
      attempt,
      callbackUrl: this.callbackUrlOf(job, capabilities, attempt),
    };
    if (job.kind !== "music")
      return { operation: job.kind, source: await this.sourceOf(job, job.kind, capabilities), ...common };
    const model = this.deps.catalogue.find(job.servedModelId ?? job.modelId);
    if (model === null)
      throw new ProviderFailure("failed", `The model ${job.servedModelId ?? job.modelId} is no longer in config.`);
    const { prompt, lyrics, durationSeconds, instrumental, options } = job.request;
    refuseIf(model, optionIssues(model, options));
    const reference = await this.referenceOf(job, model);
    return {
      operation: "music",
      model,
      prompt,
      lyrics,
      durationSeconds,
      instrumental,
      options: withDefaults(model, options),
      ...(reference === null ? {} : { reference }),
      ...common,
    };
  }

  /** A provider that recognises a repeated call by its content needs the same address each time. */
  private callbackUrlOf({ id, providerId }: Job, capabilities: ProviderCapabilities, attempt: number): string | null {
    if ((capabilities.callbacks ?? "none") === "none") return null;
    return this.deps.callbackUrls.urlOf(providerId, id, capabilities.idempotentSubmit ? null : attempt);
  }

  /** The track that a split is about; null for a generation, and when it no longer exists. */
  async trackOf({ request: { sourceTrackId } }: Pick<Job, "request">): Promise<Track | null> {
    if (sourceTrackId === null) return null;
    return (await this.deps.library.findTracks([sourceTrackId])).get(sourceTrackId) ?? null;
  }

  private async referenceOf(job: Job, model: Model): Promise<MusicReference | null> {
    const { sourceUse: use } = job.request;
    if (use === null) return null;
    const track = await this.trackOf(job);
    if (track === null) throw new ProviderFailure("failed", "The track that the request works from is gone.");
    refuseIf(model, referenceIssues(model, this.deps.catalogue.takerOf(model), use, track));
    const limits = model.references?.[use.mode];
    const file = limits === undefined ? null : sourceFileOf(track, limits);
    assert(file !== null, "a track that nothing stands against has a file for its model");
    return { ...use, source: this.toSource(track, file, job.providerId) };
  }

  private async sourceOf(
    job: Job,
    kind: SplitKind,
    capabilities: ProviderCapabilities,
  ): Promise<SplitRequest["source"]> {
    const track = await this.trackOf(job);
    const capability = capabilityOf(capabilities, kind);
    const file = track === null || capability === undefined ? null : sourceFileOf(track, capability);
    if (track === null || file === null)
      throw new ProviderFailure("failed", "There is no file of the track that this provider takes.");
    return this.toSource(track, file, job.providerId);
  }

  private toSource(track: Track, file: NonNullable<ReturnType<typeof sourceFileOf>>, providerId: string): SourceAudio {
    const { audio, audioUrls, callbackUrls } = this.deps;
    return {
      title: track.title,
      contentType: file.contentType as AssetContentType,
      sizeBytes: file.sizeBytes,
      durationSeconds: file.durationSeconds,
      open: () => audio.read(file.audioKey),
      url: callbackUrls.isReachable
        ? audioUrls.sign(file.audioKey, { ttlMs: SOURCE_URL_TTL_MS, generation: track.linkGeneration })
        : null,
      reference: track.origin?.providerId === providerId ? track.origin.reference : null,
    };
  }
}

/** @throws {ProviderFailure} the model takes no more what it took when the job was accepted */
function refuseIf(model: Model, [refused]: readonly RequestIssue[]): void {
  if (refused === undefined) return;
  throw new ProviderFailure("failed", `The request no longer fits ${model.id}: ${refused.path} ${refused.message}.`);
}
