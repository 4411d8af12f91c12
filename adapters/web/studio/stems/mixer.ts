import { computed, signal } from "@preact/signals";
import { here, type JobOutput } from "../api.js";
import { pointsOf } from "../player/bars.js";
import { alsoPlays, takeTheStage } from "../player/player.js";

/** One part of a track, in the mixer. */
export interface Stem {
  readonly label: string;
  readonly url: string;
  /** Loudness along it, 0 to 255. */
  readonly points: readonly number[];
  readonly isMuted: boolean;
  readonly isSolo: boolean;
  /** 0 to 1. */
  readonly volume: number;
}

interface Channel {
  readonly buffer: AudioBuffer;
  readonly gain: GainNode;
}

const POINTS = 200;
/** Time for the browser to begin all parts at the same sample. */
const LEAD_SECONDS = 0.06;
const FADE_SECONDS = 0.02;
const TICK_MS = 200;

/** Plays the stems of a track in step, each with a level of its own. */
export class Mixer {
  readonly stems = signal<readonly Stem[]>([]);
  readonly isPlaying = signal(false);
  /** Seconds. */
  readonly position = signal(0);
  readonly duration = signal(0);
  readonly hasSolo = computed(() => this.stems.value.some(({ isSolo }) => isSolo));

  private readonly channels: readonly Channel[];
  private sources: readonly AudioBufferSourceNode[] = [];
  /** When the part at 0 seconds was, by the clock of the context. */
  private origin = 0;
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly silence = (): void => this.pause();
  private readonly forget: () => void;

  private constructor(
    private readonly context: AudioContext,
    loaded: readonly { readonly output: JobOutput; readonly buffer: AudioBuffer }[],
  ) {
    this.channels = loaded.map(({ buffer }) => {
      const gain = new GainNode(context);
      gain.connect(context.destination);
      return { buffer, gain };
    });
    this.stems.value = loaded.map(({ output, buffer }) => ({
      label: output.label,
      url: here(output.url),
      points: pointsOf(buffer.getChannelData(0), POINTS),
      ...{ isMuted: false, isSolo: false, volume: 1 },
    }));
    this.duration.value = Math.max(0, ...loaded.map(({ buffer }) => buffer.duration));
    this.forget = alsoPlays(this.silence);
  }

  /** @throws {Error} a file cannot be loaded or read here; each can still be played alone */
  static async open(outputs: readonly JobOutput[], signal: AbortSignal): Promise<Mixer> {
    const context = new AudioContext();
    try {
      const load = async (output: JobOutput) => {
        const response = await fetch(here(output.url), { signal });
        if (!response.ok) throw new Error(`The stem responded with ${response.status}.`);
        return { output, buffer: await context.decodeAudioData(await response.arrayBuffer()) };
      };
      return new Mixer(context, await Promise.all(outputs.map(load)));
    } catch (error) {
      await context.close();
      throw error;
    }
  }

  toggle(): void {
    if (this.isPlaying.value) this.pause();
    else this.play();
  }

  play(): void {
    takeTheStage(this.silence);
    void this.context.resume();
    if (this.position.value >= this.duration.value) this.position.value = 0;
    this.begin();
  }

  pause(): void {
    if (!this.isPlaying.value) return;
    this.position.value = this.exactPosition();
    this.end();
  }

  seek(seconds: number): void {
    this.position.value = Math.max(0, Math.min(this.duration.value, seconds));
    if (this.isPlaying.value) this.begin();
  }

  exactPosition(): number {
    if (!this.isPlaying.value) return this.position.value;
    return Math.max(0, Math.min(this.duration.value, this.context.currentTime - this.origin));
  }

  /** @param at of the stem in {@link stems}: several may have one label */
  change(at: number, changes: Partial<Pick<Stem, "isMuted" | "isSolo" | "volume">>): void {
    this.stems.value = this.stems.value.map((stem, index) => (index === at ? { ...stem, ...changes } : stem));
    this.stems.value.forEach((stem, index) => {
      this.channels[index]?.gain.gain.setTargetAtTime(this.levelOf(stem), this.context.currentTime, FADE_SECONDS);
    });
  }

  isHeard({ isMuted, isSolo }: Stem): boolean {
    return this.hasSolo.value ? isSolo : !isMuted;
  }

  close(): void {
    this.forget();
    this.end();
    void this.context.close();
  }

  private levelOf(stem: Stem): number {
    return this.isHeard(stem) ? stem.volume ** 2 : 0;
  }

  /** All parts at one moment, from the position on. */
  private begin(): void {
    this.stopSources();
    const at = this.context.currentTime + LEAD_SECONDS;
    const from = this.position.value;
    this.origin = at - from;
    this.sources = this.channels.map(({ buffer, gain }) => {
      const source = new AudioBufferSourceNode(this.context, { buffer });
      source.connect(gain);
      source.start(at, Math.min(from, buffer.duration));
      return source;
    });
    this.isPlaying.value = true;
    clearInterval(this.timer);
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  private tick(): void {
    this.position.value = this.exactPosition();
    if (this.position.value >= this.duration.value) this.end();
  }

  private end(): void {
    clearInterval(this.timer);
    this.stopSources();
    this.isPlaying.value = false;
  }

  private stopSources(): void {
    for (const source of this.sources) {
      source.stop();
      source.disconnect();
    }
    this.sources = [];
  }
}
