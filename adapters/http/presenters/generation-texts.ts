import { LRUCache } from "lru-cache";
import type { GenerationForms, ShownGeneration } from "../../../core/generations/read-generations.js";
import type { JobId } from "../../../core/ids.js";
import type { AudioUrls } from "../../../core/library/audio-urls.js";
import type { Clock } from "../../../core/ports/clock.js";
import { presentGeneration } from "./generation.js";
import type { TrackLinks } from "./track.js";

/** How long a text is shown again: no longer, so that a change that is made by hand in the database is seen too. */
const KEPT_MS = 600_000;
/** Characters of all that is kept; each is a byte, where a text has none beyond Latin-1. */
const CHARACTERS_MAX = 24 * 1024 * 1024;

export interface GenerationTextsDeps extends TrackLinks {
  readonly audioUrls: Pick<AudioUrls, "sign" | "period">;
  readonly clock: Pick<Clock, "now">;
}

interface KeptText {
  readonly version: string;
  readonly text: string;
  readonly since: number;
}

/**
 * Generations as JSON. Those of ended ones are kept, so that a caller who asks again and again, or lists, costs neither
 * the reads of their tracks nor new signatures: links are the same within a period, and nothing is kept for longer.
 */
export class GenerationTexts implements GenerationForms<string> {
  private readonly texts = new LRUCache<JobId, KeptText>({
    maxSize: CHARACTERS_MAX,
    sizeCalculation: ({ version, text }) => version.length + text.length,
  });
  private period = "";

  constructor(private readonly deps: GenerationTextsDeps) {}

  kept(id: JobId, version: string): string | undefined {
    this.begin();
    const kept = this.texts.get(id);
    if (kept?.version !== version) return undefined;
    const age = this.deps.clock.now() - kept.since;
    return age >= 0 && age < KEPT_MS ? kept.text : undefined;
  }

  of(generation: ShownGeneration, version: string | null): string {
    this.begin();
    const text = JSON.stringify(presentGeneration(generation, this.deps));
    if (version !== null) this.texts.set(generation.job.id, { version, text, since: this.deps.clock.now() });
    return text;
  }

  private begin(): void {
    const period = this.deps.audioUrls.period();
    if (period === this.period) return;
    this.texts.clear();
    this.period = period;
  }
}
