/**
 * The adapters that come with Fermata, by the settings that choose them. Each loads its code when it is opened or
 * checked: a start without a broker does not load the client of one.
 */
import type { AdapterDefinition, AdapterPort } from "../../core/ports/adapter.js";
import { defineAdapter } from "../../core/ports/adapter.js";
import { ok } from "../../core/ports/self-check.js";
import { pathOfUrl, type UrlForms } from "../settings/adapter-url.js";

const SQL_STORAGE = defineAdapter({
  port: "storage",
  schemes: {
    sqlite: { form: "sqlite:PATH", rest: "path" },
    mysql: {
      form: "mysql://USER:PASSWORD@HOST:PORT,…/DATABASE",
      rest: "database",
      takesSeveralHosts: true,
    },
  },
  settings: {
    tablePrefix: { type: "string", description: "What the names of its tables begin with" },
    readUrl: { type: "string", description: "A replica of it, for reads that may be old" },
    readLagSeconds: { type: "integer", default: 5, description: "How old those may be" },
  },
  open: async (host) => (await import("./sql-storage.js")).openSqlStorage(host),
  check: async (host) => (await import("./sql-storage.js")).checkSqlStorage(host),
});

const MEMORY_QUEUE = defineAdapter({
  port: "queue",
  schemes: { memory: { form: "memory:", rest: "nothing" } },
  settings: {},
  async open({ logger }) {
    const { MemoryJobQueue } = await import("../../adapters/queue/memory/job-queue.js");
    return new MemoryJobQueue(logger);
  },
  check: async () => {
    const later = "workers in other processes notice new jobs only by polling, every jobs.sweepMs";
    return [ok("queue", `Notifications reach this process only; ${later}.`)];
  },
});

const RABBITMQ_FORM = "USER:PASSWORD@HOST:PORT,…/VHOST";

const RABBITMQ_QUEUE = defineAdapter({
  port: "queue",
  schemes: {
    amqp: { form: `amqp://${RABBITMQ_FORM}`, rest: "server", takesSeveralHosts: true },
    amqps: { form: `amqps://${RABBITMQ_FORM}`, rest: "server", takesSeveralHosts: true },
  },
  settings: {},
  async open({ url, logger }) {
    const { RabbitmqJobQueue } = await import("../../adapters/queue/rabbitmq/job-queue.js");
    return RabbitmqJobQueue.open({ url, logger });
  },
  async check({ url, providerIds }) {
    const { checkRabbitmq } = await import("../../adapters/queue/rabbitmq/doctor.js");
    const { withOperatorFetch } = await import("../operator-network.js");
    return withOperatorFetch((fetch) => checkRabbitmq({ url, providerIds, fetch }));
  },
});

const LOCAL_AUDIO = defineAdapter({
  port: "audio",
  schemes: { file: { form: "file:PATH", rest: "path" } },
  settings: { maxBytes: { type: "integer", default: 0, description: "Largest file that has to fit in" } },
  async open({ url }) {
    const { LocalAudioStore } = await import("../../adapters/audio/local/audio-store.js");
    return LocalAudioStore.open(pathOfUrl(url));
  },
  async check({ url, settings: { maxBytes } }) {
    const { checkFolder } = await import("../../adapters/system/doctor.js");
    return checkFolder({
      name: "audio directory",
      path: pathOfUrl(url),
      setting: "audio.url",
      fileMaxBytes: maxBytes,
      isPrivate: true,
    });
  },
});

const S3_AUDIO = defineAdapter({
  port: "audio",
  schemes: { s3: { form: "s3://BUCKET/PREFIX?region=REGION&endpoint=URL", rest: "server" } },
  settings: {
    accessKeyId: { type: "string", description: "Access key; the other half is the secret" },
    secretAccessKey: { type: "string", secret: true, description: "Secret of the access key" },
    redirect: { type: "boolean", default: true, description: "Whether players are sent on to the bucket" },
  },
  async open({ url, settings, clock }) {
    const { S3AudioStore } = await import("../../adapters/audio/s3/audio-store.js");
    const { operatorAgents } = await import("../operator-network.js");
    const credentials = s3Credentials(settings);
    return new S3AudioStore({ url, credentials, givesLinks: settings.redirect, clock, agents: operatorAgents });
  },
  async check({ url, settings }) {
    const { checkBucket } = await import("../../adapters/audio/s3/doctor.js");
    const { operatorAgents } = await import("../operator-network.js");
    const credentials = () => s3Credentials(settings);
    return checkBucket({ url, credentials, givesLinks: settings.redirect, agents: operatorAgents });
  },
});

/** Every adapter that comes with Fermata. */
export const BUILT_IN_ADAPTERS: readonly AdapterDefinition[] = [
  SQL_STORAGE,
  MEMORY_QUEUE,
  RABBITMQ_QUEUE,
  LOCAL_AUDIO,
  S3_AUDIO,
];

/** The URLs that the built-in adapters of a port take. */
export function formsOf(port: AdapterPort): UrlForms {
  const schemes = BUILT_IN_ADAPTERS.filter((adapter) => adapter.port === port).map((adapter) => adapter.schemes);
  return Object.assign({}, ...schemes) as UrlForms;
}

/** @returns null when the SDK is to look for them @throws {Error} one half without the other */
function s3Credentials(settings: {
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
}): { readonly accessKeyId: string; readonly secretAccessKey: string } | null {
  const { accessKeyId, secretAccessKey } = settings;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) return { accessKeyId, secretAccessKey };
  if (accessKeyId === undefined && secretAccessKey === undefined) return null;
  throw new Error(
    "audio.accessKeyId and audio.secretAccessKey go together: set both, or none for what the AWS environment has.",
  );
}
