import { access, constants, mkdir, readdir } from "node:fs/promises";
import { LocalAudioStore } from "../adapters/audio/local/audio-store.js";
import { SECRET_KEY_FILE } from "../adapters/crypto/secret-key.js";
import { MemoryJobQueue } from "../adapters/queue/memory/job-queue.js";
import { closeToOthers } from "../adapters/system/private-directory.js";
import type { AudioStore } from "../core/ports/audio-store.js";
import type { Clock } from "../core/ports/clock.js";
import type { JobQueue } from "../core/ports/job-queue.js";
import type { Logger } from "../core/ports/logger.js";
import { operatorAgents } from "./operator-network.js";
import { type AUDIO_SCHEMES, pathOfUrl, type QUEUE_SCHEMES, type Settings } from "./settings.js";

/** URL scheme to adapter. `settings.ts` lets no other scheme through. */
const QUEUES: Readonly<Record<keyof typeof QUEUE_SCHEMES, (url: string, logger: Logger) => Promise<JobQueue>>> = {
  memory: async (_url, logger) => new MemoryJobQueue(logger),
  amqp: openRabbitmq,
  amqps: openRabbitmq,
};

type OpenAudio = (audio: Settings["audio"], clock: Clock) => Promise<AudioStore>;

const AUDIO_STORES: Readonly<Record<keyof typeof AUDIO_SCHEMES, OpenAudio>> = {
  file: ({ url }) => LocalAudioStore.open(pathOfUrl(url)),
  s3: openS3,
};

/** Loaded when chosen: the client is a good part of a start that has no broker. */
async function openRabbitmq(url: string, logger: Logger): Promise<JobQueue> {
  const { RabbitmqJobQueue } = await import("../adapters/queue/rabbitmq/job-queue.js");
  return RabbitmqJobQueue.open({ url, logger });
}

/** Loaded when chosen, like the broker's client. */
async function openS3(audio: Settings["audio"], clock: Clock): Promise<AudioStore> {
  const { S3AudioStore } = await import("../adapters/audio/s3/audio-store.js");
  return new S3AudioStore({
    url: audio.url,
    credentials: s3Credentials(audio),
    givesLinks: audio.redirect,
    clock,
    agents: operatorAgents,
  });
}

/** @returns null when the SDK is to look for them @throws {Error} one half without the other */
export function s3Credentials({
  accessKeyId,
  secretAccessKey,
}: Settings["audio"]): { readonly accessKeyId: string; readonly secretAccessKey: string } | null {
  if (accessKeyId !== null && secretAccessKey !== null) return { accessKeyId, secretAccessKey };
  if (accessKeyId === null && secretAccessKey === null) return null;
  throw new Error(
    "audio.accessKeyId and audio.secretAccessKey go together: set both, or none for what the AWS environment has.",
  );
}

export function openQueue({ queue }: Settings, logger: Logger): Promise<JobQueue> {
  return QUEUES[schemeOf(queue.url) as keyof typeof QUEUES](queue.url, logger);
}

export function openAudio({ audio }: Settings, clock: Clock): Promise<AudioStore> {
  return AUDIO_STORES[schemeOf(audio.url) as keyof typeof AUDIO_STORES](audio, clock);
}

/**
 * Creates the data directory where it is missing, closed to other users of the machine. One that is there is closed to
 * them as well when it is empty or holds `secret.key`, which only Fermata creates; any other keeps its rights.
 *
 * @throws {Error} naming the directory and why it cannot be written
 */
export async function prepareDataDir(dataDir: string, logger: Logger): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK);
    const names = await readdir(dataDir);
    const isOurs = names.length === 0 || names.includes(SECRET_KEY_FILE);
    const changed = isOurs ? await closeToOthers(dataDir) : [];
    if (changed.length > 0)
      logger.warn("Other users of this machine could read stored data; not any more", { changed });
  } catch (cause) {
    throw new Error(`The data directory ${dataDir} (dataDir) cannot be written: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

function schemeOf(url: string): string {
  return url.slice(0, url.indexOf(":"));
}
