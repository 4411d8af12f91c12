import type { AssetOpener } from "../ports/asset-opener.js";
import { type AudioAnalyser, AudioUnreadableError } from "../ports/audio-analyser.js";
import type { Clock } from "../ports/clock.js";
import {
  type AssetContentType,
  type Completed,
  ProviderFailure,
  type ProviderAsset,
  type ProviderTrack,
} from "../ports/music-provider.js";
import { isLasting } from "../attempts/retry-policy.js";

/** A file of a provider, as it was found. */
export interface CheckedFile {
  readonly role: ProviderAsset["role"];
  readonly label: string;
  /** What its first bytes say; null when it could not be opened. */
  readonly contentType: AssetContentType | null;
  /** null when it could not be read to its end. */
  readonly sizeBytes: number | null;
  /** Of the decoded sound; null for images, and where it was not decoded. */
  readonly durationSeconds: number | null;
  /** What is wrong with it, for operators; none when all is well. */
  readonly issues: readonly string[];
}

export interface CheckedTrack {
  readonly title: string | null;
  readonly files: readonly CheckedFile[];
  /** What is wrong with the track as a whole. */
  readonly issues: readonly string[];
}

export interface LiveFilesDeps {
  readonly opener: AssetOpener;
  readonly analyser: AudioAnalyser;
  readonly clock: Clock;
  readonly maxBytes: number;
}

interface FileCheck {
  readonly providerId: string;
  /** What was asked for; null when no duration was. */
  readonly askedSeconds: number | null;
  readonly signal: AbortSignal;
}

const OPEN_TRIES_MAX = 3;
const OPEN_RETRY_MS = 2_000;

/** Reads everything that a generation brought, as storing it would, and keeps nothing. */
export class LiveFiles {
  constructor(private readonly deps: LiveFilesDeps) {}

  /** @throws the signal's reason once that is aborted */
  async check({ tracks }: Completed, how: FileCheck): Promise<readonly CheckedTrack[]> {
    const checked: CheckedTrack[] = [];
    for (const track of tracks) checked.push(await this.checkTrack(track, how));
    return checked;
  }

  private async checkTrack({ title, assets }: ProviderTrack, how: FileCheck): Promise<CheckedTrack> {
    const files: CheckedFile[] = [];
    for (const asset of assets) files.push(await this.checkFile(asset, how));
    const issues = assets.some(({ role }) => role === "mix") ? [] : ["It came without a mix, the playable file."];
    return { title, files, issues };
  }

  private async checkFile(asset: ProviderAsset, how: FileCheck): Promise<CheckedFile> {
    const { role, label } = asset;
    const found: Found = { contentType: null, sizeBytes: null, durationSeconds: null, issues: [] };
    try {
      await this.read(asset, how, found);
    } catch (error) {
      how.signal.throwIfAborted();
      found.issues.push(issueOf(error));
    }
    return { role, label, ...found };
  }

  /** Records each property as soon as it is known: the type of an interrupted file stays known. */
  private async read(asset: ProviderAsset, how: FileCheck, found: Found): Promise<void> {
    const { contentType, bytes } = await this.open(asset, how);
    found.contentType = contentType;
    const counted = new CountedBytes(bytes);
    try {
      found.issues.push(...typeIssues(asset, contentType));
      if (contentType.startsWith("audio/")) await this.decode(counted, asset, how, found);
      found.sizeBytes = await counted.drain();
    } finally {
      await counted.close();
    }
  }

  private async decode(counted: CountedBytes, asset: ProviderAsset, how: FileCheck, found: Found): Promise<void> {
    try {
      const analysis = await this.deps.analyser.analyse(counted, { preview: false, signal: how.signal });
      if (analysis === null) return;
      found.durationSeconds = analysis.durationSeconds;
      found.issues.push(...lengthIssues(asset, analysis.durationSeconds, how.askedSeconds));
    } catch (error) {
      if (!(error instanceof AudioUnreadableError)) throw error;
      found.issues.push(`It does not decode: ${error.message}`);
    }
  }

  private async open(asset: ProviderAsset, { providerId, signal }: FileCheck): ReturnType<AssetOpener["open"]> {
    const { opener, clock, maxBytes } = this.deps;
    for (let tries = 1; ; tries++) {
      try {
        return await opener.open(asset.source, { maxBytes, providerId, signal });
      } catch (error) {
        if (isLasting(error) || tries === OPEN_TRIES_MAX || signal.aborted) throw error;
        await clock.sleep(OPEN_RETRY_MS, signal);
      }
    }
  }
}

interface Found {
  contentType: AssetContentType | null;
  sizeBytes: number | null;
  durationSeconds: number | null;
  readonly issues: string[];
}

function issueOf(error: unknown): string {
  if (ProviderFailure.is(error)) return `It could not be had (${error.kind}): ${error.message}`;
  return `It could not be had: ${error instanceof Error ? error.message : String(error)}`;
}

function typeIssues({ role, contentType: said }: ProviderAsset, found: AssetContentType): string[] {
  if ((role === "cover") !== found.startsWith("image/")) return [`It is ${found}, which no ${role} can be.`];
  return said === null || said === found ? [] : [`The plugin says ${said}; its bytes say ${found}.`];
}

/** Providers round, and end a track where the music does; milliseconds in place of seconds are an issue. */
function lengthIssues({ role, durationSeconds: said }: ProviderAsset, found: number, asked: number | null): string[] {
  const seconds = (value: number): string => `${Math.round(value * 10) / 10} s`;
  const issues: string[] = [];
  // A preview may be an excerpt.
  if (asked !== null && role !== "preview" && (found < asked / 2 - 1 || found > asked * 2 + 10))
    issues.push(`It lasts ${seconds(found)}; asked for were ${seconds(asked)}.`);
  if (said !== null && Math.abs(said - found) > Math.max(2, found / 10))
    issues.push(`The plugin says that it lasts ${seconds(said)}; it lasts ${seconds(found)}.`);
  return issues;
}

/** Counts what is read. A reader that stops early does not close it: the rest is read by {@link drain}. */
class CountedBytes implements AsyncIterable<Uint8Array> {
  private readonly source: AsyncIterator<Uint8Array>;
  private sizeBytes = 0;
  private isDone = false;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.source = bytes[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.next() };
  }

  /** @returns the size of the whole file */
  async drain(): Promise<number> {
    for (let next = await this.next(); next.done !== true; next = await this.next());
    return this.sizeBytes;
  }

  async close(): Promise<void> {
    if (!this.isDone) await this.source.return?.();
  }

  private async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.isDone) return { done: true, value: undefined };
    const next = await this.source.next();
    if (next.done === true) this.isDone = true;
    else this.sizeBytes += next.value.length;
    return next;
  }
}
