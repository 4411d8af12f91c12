import { availableParallelism } from "node:os";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type { CallContext, Completed, MusicProvider, ProviderHost, SubmitRequest } from "../../core/ports/music-provider.js";
import type { RenderedTrack } from "./order.js";
import { RenderPool } from "./render-pool.js";
import { failAsAsked, readTestHooks } from "./test-hooks.js";

const DEFAULT_SECONDS = 30;

/** The settings with their defaults, whatever of them the host filled in. */
export interface SynthSettings {
  readonly testHooks: boolean;
  readonly threads: number;
  readonly keepStems: boolean;
}

/** Reads the settings of `plugins.synth`. */
export function synthSettings(settings: ProviderHost["settings"]): SynthSettings {
  const { testHooks, threads, keepStems } = settings;
  return {
    testHooks: testHooks === true,
    threads: typeof threads === "number" ? Math.max(1, threads) : Math.max(1, availableParallelism() - 1),
    keepStems: keepStems !== false,
  };
}

/** Renders every submission in a worker thread and answers it complete; there is nothing to poll. */
export class SynthProvider implements MusicProvider {
  private readonly settings: SynthSettings;
  private readonly pool: RenderPool;

  constructor(private readonly host: ProviderHost) {
    this.settings = synthSettings(host.settings);
    this.pool = new RenderPool(this.settings.threads);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed> {
    const prompt = this.settings.testHooks ? await this.obeyTestHooks(request, signal) : request.prompt;
    const track = await this.pool.render(
      {
        prompt,
        lyrics: request.lyrics,
        seconds: request.durationSeconds ?? DEFAULT_SECONDS,
        sung: request.modelId === "synth/song" && !request.instrumental,
        keepStems: this.settings.keepStems,
      },
      signal,
    );
    return { state: "completed", tracks: [toProviderTrack(track)] };
  }

  async close(): Promise<void> {
    await this.pool.close();
  }

  private async obeyTestHooks(request: SubmitRequest, signal: AbortSignal): Promise<string> {
    const hooks = readTestHooks(request.prompt);
    if (hooks.delayMs > 0) {
      await this.host.clock.sleep(hooks.delayMs, signal).catch((cause: unknown) => {
        throw new ProviderFailure("unavailable", "stopped while waiting for a test hook", { cause });
      });
    }
    if (signal.aborted) throw new ProviderFailure("unavailable", "stopped while waiting for a test hook");
    failAsAsked(hooks, request.attempt);
    return hooks.prompt;
  }
}

function toProviderTrack({ title, bpm, tags, assets }: RenderedTrack): Completed["tracks"][number] {
  return {
    title,
    bpm,
    tags,
    assets: assets.map(({ bytes, ...asset }) => ({ ...asset, source: { kind: "bytes", bytes } })),
  };
}
