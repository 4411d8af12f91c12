import { LRUCache } from "lru-cache";
import type { GenerationForms, ShownGeneration } from "../../../core/generations/read-generations.js";
import type { JobId } from "../../../core/ids.js";
import type { AudioUrls } from "../../../core/library/audio-urls.js";
import type { Clock } from "../../../core/ports/clock.js";
import type { ShownState } from "../../../core/ports/job-store.js";
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

/** A generation as JSON. */
export interface GenerationText {
  readonly text: string;
  /** Its length in UTF-8. */
  readonly bytes: number;
}

interface KeptText extends GenerationText {
  readonly version: string;
  readonly since: number;
}

/**
 * Generations as JSON. They are kept, so that a caller who asks again and again, or lists, costs neither the reads of
 * their tracks nor new signatures: links are the same within a period, and nothing is kept for longer.
 */
export class GenerationTexts implements GenerationForms<GenerationText> {
  private readonly texts = new LRUCache<JobId, KeptText>({
    maxSize: CHARACTERS_MAX,
    sizeCalculation: ({ version, text }) => version.length + text.length,
  });
  private period = "";

  constructor(private readonly deps: GenerationTextsDeps) {}

  kept(states: readonly ShownState[]): readonly (GenerationText | undefined)[] {
    this.begin();
    const now = this.deps.clock.now();
    return states.map(({ id, version }) => {
      const kept = this.texts.get(id);
      if (kept?.version !== version) return undefined;
      const age = now - kept.since;
      return age >= 0 && age < KEPT_MS ? kept : undefined;
    });
  }

  of(generation: ShownGeneration, version: string | null): GenerationText {
    this.begin();
    const text = JSON.stringify(presentGeneration(generation, this.deps));
    const bytes = Buffer.byteLength(text);
    if (version !== null) this.texts.set(generation.job.id, { version, text, bytes, since: this.deps.clock.now() });
    return { text, bytes };
  }

  private begin(): void {
    const period = this.deps.audioUrls.period();
    if (period === this.period) return;
    this.texts.clear();
    this.period = period;
  }
}

/**
 * A page of them as the body of a response. Each text is copied once, into its place: as one text the page would be
 * copied three times on its way.
 */
export function pageOfGenerations(generations: readonly GenerationText[], nextCursor: string | null): Buffer {
  const head = '{"data":{"generations":[';
  const tail = `],"next_cursor":${JSON.stringify(nextCursor)}}}`;
  let length = head.length + tail.length + Math.max(0, generations.length - 1);
  for (const { bytes } of generations) length += bytes;
  const page = Buffer.allocUnsafe(length);
  let end = page.write(head, "latin1");
  for (const [index, { text }] of generations.entries()) {
    if (index > 0) end += page.write(",", end, "latin1");
    end += page.write(text, end);
  }
  page.write(tail, end, "latin1");
  return page;
}
