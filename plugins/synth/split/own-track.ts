import { createHash } from "node:crypto";
import type { ProviderReference } from "../../sdk/index.js";
import { type CompositionSpec, compositionOptions, type RenderedAsset, type SplitSpec } from "../job-spec.js";
import { createWav, isAudible, type WavFile } from "../output/wav.js";
import { compose, type Composition } from "../composer/compose.js";
import { SAMPLE_RATE } from "../sound/dsp.js";
import { toInt16 } from "../sound/gain-curve.js";
import type { LayerName, StemName } from "../sound/events.js";
import { mixDown, type Mixdown, renderLayers } from "../sound/mixdown.js";
import { stemAssets } from "./stem-assets.js";

/** The four stems that musicians expect of a split, where a track has them. */
const CLASSIC: readonly string[] = ["drums", "bass", "other", "vocals"] satisfies readonly StemName[];
/** Layers of `other` as stems. */
const LAYER_LABELS: Readonly<Record<LayerName, string>> = {
  lead: "melody",
  chords: "chords",
  pad: "pad",
  arpeggio: "arpeggio",
  crackle: "crackle",
};

/** Version of the stored reference; raised when its members change. */
const REFERENCE_VERSION = 1;
/** Largest stored reference; a track with longer words stores none. */
const REFERENCE_MAX_BYTES = 14_000;

/** One of synth's own tracks: its spec and the digest of the result. */
export interface OwnTrack extends CompositionSpec {
  /** SHA-256 of the master's bytes, as hex. */
  readonly masterDigest: string;
}

/** As in {@link OwnTrack}. */
export function digestOf(master: Uint8Array): string {
  return createHash("sha256").update(master).digest("hex");
}

/** The reference from which a track can be rendered again; undefined if it would be too long. */
export function toReference(composition: OwnTrack): ProviderReference | undefined {
  const { masterDigest } = composition;
  const reference = { version: REFERENCE_VERSION, ...kept(composition), masterDigest };
  return Buffer.byteLength(JSON.stringify(reference)) <= REFERENCE_MAX_BYTES ? reference : undefined;
}

/** References are flat: the tracks that this one extends, the latest first, are stored as JSON text. */
function kept(track: CompositionSpec): ProviderReference {
  const before: ProviderReference[] = [];
  for (let { after } = track; after !== undefined; { after } = after.composition)
    before.push({ ...words(after.composition), untilSeconds: after.untilSeconds });
  return { ...words(track), ...(before.length === 0 ? {} : { before: JSON.stringify(before) }) };
}

function words({ prompt, lyrics, seconds, sung, edition, ...composition }: CompositionSpec): ProviderReference {
  const written: ProviderReference = edition === undefined ? {} : { edition };
  return { prompt, lyrics, seconds, sung, ...written, ...compositionOptions(composition) };
}

/** The track that a reference describes; null when this version cannot read it. */
export function readReference(reference: ProviderReference | null): OwnTrack | null {
  if (reference === null || reference["version"] !== REFERENCE_VERSION) return null;
  const { masterDigest } = reference;
  const composition = readChunk(reference);
  return composition !== null && typeof masterDigest === "string" ? { ...composition, masterDigest } : null;
}

function readChunk({ before, ...own }: ProviderReference): CompositionSpec | null {
  if (typeof before !== "string") return readWords(own);
  let after: CompositionSpec["after"];
  for (const part of (JSON.parse(before) as ProviderReference[]).reverse()) {
    const track = readWords(part);
    const { untilSeconds } = part;
    if (track === null || typeof untilSeconds !== "number") return null;
    after = { composition: after === undefined ? track : { ...track, after }, untilSeconds };
  }
  const chunk = readWords(own);
  return chunk === null || after === undefined ? chunk : { ...chunk, after };
}

function readWords({ prompt, lyrics, seconds, sung, edition, ...others }: ProviderReference): CompositionSpec | null {
  const areWords = typeof prompt === "string" && (lyrics === null || typeof lyrics === "string");
  if (!areWords || typeof seconds !== "number" || typeof sung !== "boolean") return null;
  const written = typeof edition === "number" ? { edition } : {};
  return { prompt, lyrics, seconds, sung, ...written, ...compositionOptions(others) };
}

/**
 * Renders a track again and returns its stems, which add up to its master.
 *
 * @returns null if the result differs from the stored digest: another version or machine renders different bytes
 */
export function splitOwnTrack(composition: OwnTrack, operation: SplitSpec["operation"]): RenderedAsset[] | null {
  // An extended track has no stems of its own.
  if (composition.after !== undefined) return null;
  const composed = compose(composition);
  const mixdown = mixDown(composed, true);
  const { master, stems } = mixdown;
  if (digestOf(master.bytes) !== composition.masterDigest) return null;
  if (operation === "stem_split") return stemAssets(operation, audibleStems(composed, mixdown), composition.seconds);
  const frames = master.samples.length / 2;
  const instruments = [...stems].filter(([name]) => name !== "vocals").map(([, stem]) => stem);
  const files = new Map([
    ["vocals", stems.get("vocals") ?? createWav(frames, SAMPLE_RATE)],
    ["instrumental", sumOf(instruments, frames)],
  ]);
  return stemAssets(operation, files, composition.seconds);
}

/** Where all music would be in the stem `other`, its layers take its place: a split of one stem would be none. */
function audibleStems(composition: Composition, mixdown: Mixdown): Map<string, WavFile> {
  const audible = [...mixdown.stems].filter(([, file]) => isAudible(file));
  const hasOnlyOther = audible.every(([name]) => name === "other" || !CLASSIC.includes(name));
  if (!hasOnlyOther) return new Map(audible);
  const layers = [...renderLayers(composition, mixdown)].map(([name, file]) => [LAYER_LABELS[name], file] as const);
  return new Map<string, WavFile>([...layers, ...audible.filter(([name]) => name !== "other")]);
}

function sumOf(stems: readonly WavFile[], frames: number): WavFile {
  const sum = createWav(frames, SAMPLE_RATE);
  for (let index = 0; index < sum.samples.length; index += 1) {
    sum.samples[index] = toInt16(stems.reduce((total, { samples }) => total + (samples[index] as number), 0));
  }
  return sum;
}
