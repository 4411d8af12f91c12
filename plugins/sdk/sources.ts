import { fileEndingOf, ProviderFailure, type SourceAudio } from "../../core/ports/music-provider.js";

/**
 * A track as a file of a form, held whole in memory: declare a `maxBytes`.
 *
 * @throws {ProviderFailure} `unavailable`: the track cannot be read; nothing was sent
 */
export async function sourceFile(source: SourceAudio): Promise<File> {
  const { contentType } = source;
  return new File(await chunksOf(source), `track.${fileEndingOf(contentType)}`, { type: contentType });
}

/**
 * A track as a data URI, held whole in memory: declare a `maxBytes`.
 *
 * @throws {ProviderFailure} `unavailable`: the track cannot be read; nothing was sent
 */
export async function dataUriOf(source: SourceAudio): Promise<string> {
  return `data:${source.contentType};base64,${Buffer.concat(await chunksOf(source)).toString("base64")}`;
}

async function chunksOf(source: SourceAudio): Promise<Uint8Array<ArrayBuffer>[]> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  try {
    for await (const chunk of source.open()) chunks.push(new Uint8Array(chunk));
  } catch (cause) {
    throw new ProviderFailure("unavailable", "The track cannot be read.", { cause, billable: "no" });
  }
  return chunks;
}
