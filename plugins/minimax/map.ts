import { asObject, isLink, NO_TAGS } from "../sdk/index.js";
import type { JsonObject, MusicRequest, PlainSource, ProviderTrack } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** Links to files expire after a day. */
const LINKS_LIVE_MS = 86_400_000;

const SAMPLE_RATE = 44_100;
const MP3_BITRATE = 256_000;

/** `data.status` of incomplete music. */
const IN_PROGRESS = 1;

/** The body of a generation: with lyrics, without a voice, or with lyrics of the model's own. */
export function generationOf(request: MusicRequest, { audioFormat, delivery }: Host["settings"]): JsonObject {
  const { model, prompt } = request;
  const bitrate = audioFormat === "mp3" ? { bitrate: MP3_BITRATE } : {};
  const audio_setting = { format: audioFormat, sample_rate: SAMPLE_RATE, ...bitrate };
  return { model: model.upstream, prompt, ...wordsOf(request), audio_setting, output_format: delivery };
}

/** Sets exactly one of the three: without any of them the API requires lyrics. */
function wordsOf({ lyrics, instrumental }: MusicRequest): JsonObject {
  const text = lyrics?.replace(/\r\n?/g, "\n").trim() ?? "";
  if (text !== "") return { lyrics: text };
  return instrumental ? { is_instrumental: true } : { lyrics_optimizer: true };
}

/** The track in a response; null when there is none. */
export function trackIn(body: unknown, now: number): ProviderTrack | null {
  const { data, extra_info: info } = asObject(body);
  const { status, audio, audio_url: audioUrl } = asObject(data);
  const source = status === IN_PROGRESS ? null : (sourceOf(audio, now) ?? sourceOf(audioUrl, now));
  if (source === null) return null;
  const { music_duration: duration, audio_length: length } = asObject(info);
  const milliseconds = [duration, length].find((value): value is number => typeof value === "number" && value > 0);
  const durationSeconds = milliseconds === undefined ? null : milliseconds / 1_000;
  return {
    title: null,
    bpm: null,
    tags: NO_TAGS,
    assets: [{ role: "mix", label: "full", contentType: null, durationSeconds, source }],
  };
}

/** A link, or the file in hex: reads both, whichever was requested. */
function sourceOf(value: unknown, now: number): PlainSource | null {
  if (isLink(value)) return { kind: "url", url: value, expiresAt: now + LINKS_LIVE_MS };
  const isHex = typeof value === "string" && value.length % 2 === 0 && /^[0-9a-f]+$/i.test(value);
  return isHex ? { kind: "text", encoding: "hex", text: value } : null;
}
