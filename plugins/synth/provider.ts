import { ProviderFailure } from "../sdk/index.js";
import type {
  CallContext,
  Completed,
  MusicProvider,
  MusicRequest,
  ProviderAsset,
  ProviderSandbox,
  ProviderTrack,
  SplitRequest,
  SubmitRequest,
} from "../sdk/index.js";
import { EDITION } from "./composer/compose.js";
import { goingOn } from "./extend.js";
import { type CompositionSpec, compositionOptions, type RenderedAsset, type RenderedTrack } from "./job-spec.js";
import { RenderPool } from "./render-pool.js";
import type { Host } from "./settings.js";
import { readReference, toReference } from "./split/own-track.js";
import { SPLIT_LIMITS } from "./split/limits.js";
import { SPLIT_HANDLER, splitInSandbox } from "./split/split-in-sandbox.js";
import { failAsRequested, readTestHooks } from "./test-hooks.js";

const DEFAULT_SECONDS = 30;

/**
 * Carries out every submission and returns it completed; there is nothing to poll. Worker threads render its own
 * tracks; child processes split any other audio.
 */
export class SynthProvider implements MusicProvider {
  private readonly settings: Host["settings"];
  private readonly pool: RenderPool;
  private readonly sandbox: ProviderSandbox;

  constructor(private readonly host: Host) {
    this.settings = host.settings;
    this.pool = new RenderPool(this.settings.threads);
    this.sandbox = host.sandbox(SPLIT_HANDLER, { ...SPLIT_LIMITS, processes: this.settings.threads });
  }

  submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed> {
    return request.operation === "music" ? this.make(request, signal) : this.split(request, signal);
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.close(), this.sandbox.close()]);
  }

  private async make(request: MusicRequest, signal: AbortSignal): Promise<Completed> {
    const prompt = this.settings.testHooks ? await this.obeyTestHooks(request, signal) : request.prompt;
    const requested: CompositionSpec = {
      prompt,
      lyrics: request.lyrics,
      seconds: request.durationSeconds ?? request.model.duration?.defaultSeconds ?? DEFAULT_SECONDS,
      edition: EDITION,
      sung: request.model.id === "synth/song" && !request.instrumental,
      ...compositionOptions(request.options),
    };
    const composition = request.reference === undefined ? requested : goingOn(requested, request.reference);
    const { keepMaster, keepStems } = this.settings;
    const track = await this.pool.run({ kind: "render", ...composition, keepMaster, keepStems }, signal);
    return { state: "completed", tracks: [toProviderTrack(track, composition)] };
  }

  private async split({ operation, source }: SplitRequest, signal: AbortSignal): Promise<Completed> {
    const composition = readReference(source.reference);
    const own =
      composition === null ? null : await this.pool.run({ kind: "split-own", operation, ...composition }, signal);
    const stems = own ?? (await splitInSandbox(this.sandbox, { operation, source }, signal));
    return { state: "completed", tracks: [], stems: stems.map(toProviderAsset) };
  }

  private async obeyTestHooks(request: MusicRequest, signal: AbortSignal): Promise<string> {
    const hooks = readTestHooks(request.prompt);
    if (hooks.delayMs > 0) {
      await this.host.clock.sleep(hooks.delayMs, signal).catch((cause: unknown) => {
        throw new ProviderFailure("unavailable", "stopped while waiting for a test hook", { cause });
      });
    }
    if (signal.aborted) throw new ProviderFailure("unavailable", "stopped while waiting for a test hook");
    failAsRequested(hooks, request.attempt);
    return hooks.prompt;
  }
}

function toProviderTrack(
  { title, bpm, tags, assets, masterDigest }: RenderedTrack,
  composition: CompositionSpec,
): ProviderTrack {
  const reference = toReference({ ...composition, masterDigest });
  return { title, bpm, tags, assets: assets.map(toProviderAsset), ...(reference === undefined ? {} : { reference }) };
}

function toProviderAsset({ bytes, ...asset }: RenderedAsset): ProviderAsset {
  return { ...asset, source: { kind: "bytes", bytes } };
}
