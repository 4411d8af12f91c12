import { handleCodec, ProviderFailure } from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  Completed,
  MusicProvider,
  MusicRequest,
  ProbeResult,
  ProviderHandle,
  Snapshot,
  SourceAudio,
  SplitRequest,
  SubmitRequest,
} from "../sdk/index.js";
import { type Kind, MurekaClient } from "./client.js";
import { type Generation, generationOf, snapshotOf, stemsOf } from "./map.js";
import { checkReferenced, ownSongIdOf, purposeOf, referencedOf } from "./references.js";
import type { Host } from "./settings.js";
import { readStemFiles, type StemFiles } from "./stem-files.js";

const HANDLES = handleCodec(1, ({ kind, taskId }) =>
  isKind(kind) && typeof taskId === "string" ? { kind, taskId } : null,
);
const FIRST_POLL_MS = 15_000;
/** Submissions at once in one process. */
export const CONCURRENCY = 4;

/** Ten megabytes when they are written in base64. */
const INLINE_MAX_BYTES = 7_500_000;

/** Mureka: songs and instrumentals as tasks, splits within one call. */
export class MurekaProvider implements MusicProvider {
  private readonly client: MurekaClient;
  private readonly stemFiles: StemFiles;

  constructor(private readonly host: Host) {
    this.stemFiles = readStemFiles(host.settings);
    this.client = new MurekaClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted | Completed> {
    if (request.operation !== "music") return this.split(request, signal);
    const { path, json, kind } = await this.generationOf(request, signal);
    const taskId = await this.client.generate(path, json, signal);
    return { state: "accepted", handle: HANDLES.write({ kind, taskId }), nextPollMs: FIRST_POLL_MS };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { kind, taskId } = HANDLES.read(handle);
    return snapshotOf(await this.client.query(kind, taskId, signal), kind);
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    const { balanceCents, concurrentRequestLimit } = await this.client.billing(signal);
    if (concurrentRequestLimit !== null)
      this.host.logger.info("Mureka works on a limited number of requests at once", { concurrentRequestLimit });
    const isEmpty = balanceCents !== null && balanceCents <= 0;
    const isTight = concurrentRequestLimit !== null && concurrentRequestLimit < CONCURRENCY;
    const warnings = [
      ...(isEmpty ? ["No credit is left."] : []),
      ...(isTight ? [`concurrent_request_limit is ${concurrentRequestLimit}: set maxInFlight to that or less.`] : []),
    ];
    return { credit: balanceCents === null ? null : { amount: balanceCents, unit: "cents" }, warnings };
  }

  /** The call for a request; uploads a track first that Mureka does not have. */
  private async generationOf(request: MusicRequest, signal: AbortSignal): Promise<Generation> {
    const { reference } = request;
    if (reference === undefined) return generationOf(request);
    checkReferenced(request, reference);
    const { source } = reference;
    const songId = ownSongIdOf(source, this.host.clock.now());
    if (songId !== null) return referencedOf(request, reference, { song_id: songId });
    const type = source.contentType;
    const file = new Blob(await bytesOf(source), { type });
    const name = type === "audio/mpeg" ? "track.mp3" : "track.m4a";
    const uploadId = await this.client.upload(file, name, purposeOf(reference), signal);
    return referencedOf(request, reference, { upload_audio_id: uploadId });
  }

  private async split({ operation, source }: SplitRequest, signal: AbortSignal): Promise<Completed> {
    const files = [...(this.stemFiles ?? [])].filter(
      ([label]) => operation === "stem_split" || label === "vocals" || label === "instrumental",
    );
    if (files.length < (operation === "stem_split" ? 1 : 2))
      throw new ProviderFailure("invalid_input", "The setting stemFiles does not name the files that this needs.", {
        billable: "no",
      });
    const body = { url: await linkTo(source), model: this.host.settings.separationModel };
    return { state: "completed", tracks: [], stems: stemsOf(await this.client.stem(body, signal), files) };
  }
}

/** A link where there is one; else the file itself. */
async function linkTo(source: SourceAudio): Promise<string> {
  const { url, contentType, sizeBytes } = source;
  if (url !== null) return url;
  if (sizeBytes > INLINE_MAX_BYTES) {
    const limit = `Without a public address of this installation a file may have ${INLINE_MAX_BYTES} bytes`;
    const why = `${limit}; it has ${sizeBytes}.`;
    throw new ProviderFailure("invalid_input", why, { billable: "no" });
  }
  return `data:${contentType};base64,${Buffer.concat(await bytesOf(source)).toString("base64")}`;
}

async function bytesOf(source: SourceAudio): Promise<Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of source.open()) parts.push(new Uint8Array(part));
  return parts;
}

function isKind(kind: unknown): kind is Kind {
  return kind === "song" || kind === "instrumental";
}
