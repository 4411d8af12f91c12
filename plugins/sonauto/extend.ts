import { ProviderFailure } from "../sdk/index.js";
import type { JsonObject, MusicReference, MusicRequest, SourceAudio } from "../sdk/index.js";
import { commonBodyOf } from "./map.js";

/**
 * The body of an extension: the song continues from the end of a track. For an earlier point, the API crops the rest of
 * the track.
 *
 * @throws {ProviderFailure} `invalid_input`: another mode, a tempo, a length, or a point in a track of unknown length
 */
export async function extensionOf(
  request: MusicRequest,
  reference: MusicReference,
  outputFormat: string,
): Promise<JsonObject> {
  const { model, options, durationSeconds } = request;
  if (reference.mode !== "extend") refuse(`Sonauto has no ${reference.mode} here.`);
  // An extension keeps the tempo of the track.
  if (options["bpm"] !== undefined) refuse("The option bpm does not go with extend.");
  if (durationSeconds !== null) refuse("A duration does not go with extend: the length of what follows is theirs.");
  const cropped = croppedSeconds(reference);
  return {
    ...commonBodyOf(request, outputFormat),
    ...(await audioOf(reference.source)),
    ...(model.upstream === "v2" ? { side: "right" } : {}),
    ...(cropped === 0 ? {} : { crop_duration: cropped }),
  };
}

/** Seconds between the point that the song goes on from and the end of the track. */
function croppedSeconds({ fromSeconds, source: { durationSeconds } }: MusicReference): number {
  if (fromSeconds === null) return 0;
  if (durationSeconds === null) refuse("The length of the track is not known: it can be extended from its end alone.");
  return Math.max(0, Math.round((durationSeconds - fromSeconds) * 1_000) / 1_000);
}

/** A link where there is one; else the file itself. */
async function audioOf(source: SourceAudio): Promise<JsonObject> {
  if (source.url !== null) return { audio_url: source.url };
  const parts: Uint8Array[] = [];
  for await (const part of source.open()) parts.push(part);
  return { audio_base64: Buffer.concat(parts).toString("base64") };
}

function refuse(why: string): never {
  throw new ProviderFailure("invalid_input", why, { billable: "no" });
}
