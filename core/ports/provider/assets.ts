/** Kinds of files that are stored. What a provider calls them is checked against their first bytes. */
export const ASSET_CONTENT_TYPES = [
  "audio/mpeg",
  "audio/wav",
  "audio/flac",
  "audio/ogg",
  "audio/mp4",
  "image/png",
  "image/jpeg",
  "image/webp",
] as const;

export type AssetContentType = (typeof ASSET_CONTENT_TYPES)[number];

const FILE_ENDINGS: Readonly<Record<AssetContentType, string>> = {
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/ogg": "ogg",
  "audio/mp4": "m4a",
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
};

/** The usual ending of such a file's name, without its dot. */
export function fileEndingOf(contentType: AssetContentType): string {
  return FILE_ENDINGS[contentType];
}

/**
 * A file that the host fetches; the address policy of webhooks holds for it, but for origins of the plugin's own
 * settings.
 */
export interface UrlSource {
  readonly kind: "url";
  /** https; http only at an origin that is in the plugin's settings, or where `webhooks.allowHttp` is true. */
  readonly url: string;
  /** Sent to the URL's own origin only, never along a redirect to another. */
  readonly headers?: { readonly [name: string]: string };
  /** When the link dies, in milliseconds since 1970; left out when not known. */
  readonly expiresAt?: number;
}

/** Where the bytes of an asset come from. A stream is opened at most once per attempt to store it. */
export type PlainSource =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "stream"; open(): AsyncIterable<Uint8Array> }
  | { readonly kind: "text"; readonly encoding: "base64" | "hex"; readonly text: string }
  | UrlSource;

/** `archive`: one file inside a ZIP. */
export type AssetSource =
  | PlainSource
  | { readonly kind: "archive"; readonly archive: PlainSource; readonly entry: string };

/** A file of a track. */
export interface ProviderAsset {
  /** `mix` is the playable file and must be there; `master` is a lossless copy of it kept for processing. */
  readonly role: "mix" | "master" | "preview" | "stem" | "cover";
  /**
   * `full` for mix, master, preview and cover; a stem's lower-case name (`vocals`, `instrumental`, `drums`, `bass`,
   * `other`, …) for stems.
   */
  readonly label: string;
  /** null: found out from the bytes. */
  readonly contentType: AssetContentType | null;
  /** Length of the sound, in seconds; null when not known, and for images. */
  readonly durationSeconds: number | null;
  readonly source: AssetSource;
}

/** Words that describe a track, lower case. */
export interface TrackTags {
  readonly mood: readonly string[];
  readonly activity: readonly string[];
  readonly genre: readonly string[];
  readonly other: readonly string[];
}

/** A provider's own ids of a track, stored with it: all that a later split at that provider needs. */
export interface ProviderReference {
  readonly [key: string]: string | number | boolean | null;
}

/** A word that is sung, and when: seconds from the beginning of the mix. */
export interface LyricsWord {
  readonly text: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** What a provider says it sang. */
export interface ProviderLyrics {
  /** Lines are separated by `\n`; headings such as `[Verse]` as the provider writes them. */
  readonly text: string;
  /** In their order; left out where the provider gives no times of words. */
  readonly words?: readonly LyricsWord[];
}

/** One finished track. */
export interface ProviderTrack {
  /** null: the core derives one from the prompt. */
  readonly title: string | null;
  readonly bpm: number | null;
  readonly tags: TrackTags;
  readonly assets: readonly ProviderAsset[];
  readonly reference?: ProviderReference;
  /** What the provider says it sang. Left out where it gives none: lyrics of the request are not repeated here. */
  readonly lyrics?: ProviderLyrics;
}
