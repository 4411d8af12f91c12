import { asObject, lyricsOf, NO_TAGS, parseJson, ProviderFailure } from "../sdk/index.js";
import type { JsonObject, MusicRequest, ProviderFailureKind, ProviderTrack } from "../sdk/index.js";

/** Why a candidate without music ended, where its content is the reason. */
const REFUSED: ReadonlySet<unknown> = new Set(["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"]);

/** The prompt carries lyrics and the switch for instrumentals. */
function wordsOf({ prompt, lyrics, instrumental }: MusicRequest): string {
  const words = lyrics?.trim() ?? "";
  return `${prompt}${words !== "" ? `\nLyrics:\n${words}` : instrumental ? "\nInstrumental only, no vocals." : ""}`;
}

function isWav({ model }: MusicRequest): boolean {
  return model.options?.["format"] === "wav";
}

/** The body of a `generateContent`. */
export function contentBody(request: MusicRequest): JsonObject {
  return {
    contents: [{ parts: [{ text: wordsOf(request) }] }],
    generationConfig: {
      responseModalities: ["AUDIO", "TEXT"],
      ...(isWav(request) ? { responseFormat: { audio: { mimeType: "audio/wav" } } } : {}),
    },
  };
}

/** The body of an interaction: work in the background, that is stored until it is fetched. */
export function interactionBody(request: MusicRequest): JsonObject {
  const format = isWav(request) ? { response_format: { type: "audio", mime_type: "audio/wav" } } : {};
  return { model: request.model.upstream, input: wordsOf(request), background: true, ...format };
}

/** The body of a `predict`; `seed` and `sample_count` exclude each other: one clip needs no `sample_count`. */
export function predictBody({ model, prompt, options }: MusicRequest): JsonObject {
  const { sampleCount = 1 } = model.options ?? {};
  const { seed, negative_prompt } = options;
  const instance = {
    prompt,
    ...(negative_prompt === undefined ? {} : { negative_prompt }),
    ...(seed === undefined ? {} : { seed }),
  };
  return { instances: [instance], parameters: seed === undefined ? { sample_count: sampleCount } : {} };
}

/** The song in the response of `generateContent`; null when it has none. */
export function songIn(body: unknown): ProviderTrack[] | ProviderFailure | null {
  const { candidates, promptFeedback } = asObject(body);
  const { blockReason } = asObject(promptFeedback);
  if (typeof blockReason === "string")
    return failed("content_rejected", `The prompt was blocked: ${blockReason}.`, blockReason);
  const [candidate] = Array.isArray(candidates) ? (candidates as readonly unknown[]) : [];
  if (candidate === undefined) return null;
  const { content, finishReason } = asObject(candidate);
  const { parts } = asObject(content);
  const given = (Array.isArray(parts) ? parts : []).map(asObject);
  const sounds = given.map(({ inlineData }) => asObject(inlineData));
  const sound = sounds
    .map(({ mimeType, data }) => (isImage(mimeType) ? null : trackOf(data)))
    .find((track) => track !== null);
  if (sound !== undefined) return [{ ...sound, ...lyricsIn(given.map(({ text }) => text)) }];
  const reason = typeof finishReason === "string" ? finishReason : "none";
  return failed(
    REFUSED.has(reason) ? "content_rejected" : "failed",
    `The response has no music; it ended with ${reason}.`,
    reason,
  );
}

/** The clips in the response of `predict`, in their order; null when it has none. */
export function clipsIn(body: unknown): ProviderTrack[] | ProviderFailure | null {
  const { predictions } = asObject(body);
  if (!Array.isArray(predictions)) return null;
  // Vertex AI responds so when its filters removed everything.
  if (predictions.length === 0)
    return failed("content_rejected", "The response has an empty list of predictions.", undefined);
  const tracks = predictions
    .map(asObject)
    .map(({ bytesBase64Encoded, audioContent }) => trackOf(bytesBase64Encoded ?? audioContent));
  const whole = tracks.filter((track) => track !== null);
  return whole.length > 0 ? whole : failed("failed", "Its predictions hold no music.", undefined);
}

/** The lyrics in the texts of a response; another one may describe the structure of the song, in JSON. */
export function lyricsIn(texts: readonly unknown[]): Pick<ProviderTrack, "lyrics"> {
  const words = texts.filter((text) => typeof text === "string" && parseJson(text) === undefined);
  return lyricsOf(words.join("\n"));
}

/** null: it is not base64. */
export function trackOf(text: unknown): ProviderTrack | null {
  if (typeof text !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  return {
    title: null,
    bpm: null,
    tags: NO_TAGS,
    assets: [
      {
        role: "mix",
        label: "full",
        contentType: null,
        durationSeconds: null,
        source: { kind: "text", encoding: "base64", text },
      },
    ],
  };
}

function isImage(mimeType: unknown): boolean {
  return typeof mimeType === "string" && mimeType.startsWith("image/");
}

function failed(kind: ProviderFailureKind, message: string, code: string | undefined): ProviderFailure {
  return new ProviderFailure(kind, message, { providerCode: code });
}
