import { setImmediate as nextTurn } from "node:timers/promises";
import { contentTypeOf } from "../../adapters/downloads/file-type.js";
import type { CoreOptions } from "../../core/core-options.js";
import { pollOf } from "../../core/execution/poll-together.js";
import type { StoppedWork, StopOptions } from "../../core/execution/work-jobs.js";
import type { WorkingProvider } from "../../core/execution/working-provider.js";
import { ServiceUnavailableError } from "../../core/errors.js";
import type { GenerationInput } from "../../core/generations/request-rules.js";
import type { AccountId, JobId } from "../../core/ids.js";
import type { Job, JobAttempt } from "../../core/jobs/job.js";
import type { AssetOpener } from "../../core/ports/asset-opener.js";
import type { CorePorts } from "../../core/ports/core-ports.js";
import {
  type MusicProvider,
  type ProviderCapabilities,
  ProviderFailure,
  type ProviderModel,
} from "../../core/ports/music-provider.js";
import type { CatalogueProvider } from "../../core/providers/catalogue.js";
import type { RoutePreferences } from "../../core/providers/routes.js";
import type { Workers } from "../../core/workers.js";
import { aTrack } from "./builders.js";
import { OPTIONS } from "./core-options.js";
import { FaultyPort } from "./doubles/faulty-port.js";
import { scriptedBytes, ScriptedProvider } from "./doubles/scripted-provider.js";
import { type MemoryCore, memoryCore } from "./memory-core.js";
import type { MemoryStorage } from "./memory-storage.js";

export interface MemoryWorkersOptions {
  readonly capabilities?: Partial<ProviderCapabilities>;
  readonly working?: Partial<WorkingProvider>;
  readonly jobs?: Partial<CoreOptions["jobs"]>;
  readonly options?: Partial<CoreOptions>;
  /** Changes the models of both providers, as an operator may configure them. */
  readonly model?: Partial<ProviderModel>;
  readonly catalogue?: Partial<CatalogueProvider>;
  /** Jobs of `scripted` may go to `fallback`, which has the same capabilities. */
  readonly withFallback?: boolean;
  readonly ports?: (storage: MemoryStorage) => Partial<CorePorts>;
}

/** A process with workers, and scripted providers. */
export interface MemoryWorkers extends MemoryCore {
  readonly provider: ScriptedProvider & Partial<MusicProvider>;
  readonly fallback: ScriptedProvider & Partial<MusicProvider>;
  /** What links of the providers open; others are gone. */
  readonly links: Map<string, Uint8Array | Error>;
  /** While it is on, no transaction begins. */
  readonly outage: { isOn: boolean };
  /** With 10,000 credits. */
  readonly accountId: AccountId;
  /** Accepts a generation of `scripted/song`, which costs 10 credits. */
  accept(input?: Partial<GenerationInput>): Promise<JobId>;
  /** Starts a stem split of a new track, at providers that can ({@link SPLITTING}). */
  split(): Promise<JobId>;
  /** Starts the workers of one more process. */
  start(): Promise<Workers>;
  /** Lets time pass, and everything happen that is due by then. */
  pass(ms?: number): Promise<void>;
  /** Stops workers, letting time pass until they have stopped. */
  stop(workers: Workers, graceMs?: number, options?: StopOptions): Promise<StoppedWork>;
  job(id: JobId): Promise<Job>;
  attempts(id: JobId): Promise<JobAttempt[]>;
  /** The kinds of the job's entries in the ledger. */
  entries(id: JobId): Promise<string[]>;
  /** What was logged, without its fields. */
  messages(): string[];
  /** What the first line with this message says of it. */
  fieldsOf(message: string): Readonly<Record<string, unknown>>;
}

const SPLITS = { stemSplit: { sources: "any" } } as const;
/** Providers that split tracks. */
export const SPLITTING = { capabilities: SPLITS, catalogue: SPLITS } as const;

const NO_CAPABILITIES: ProviderCapabilities = { idempotentSubmit: false, lookup: false, cancel: false };
const CALL_LIMIT_MS = 90_000;
const STEP_MS = 5_000;

/**
 * Workers over the SQL stores in memory and a clock that stands still. A whole job takes some milliseconds.
 *
 * @example
 * const { accept, start, job } = await memoryWorkers();
 * const id = await accept();
 * await start();
 * expect(await job(id)).to.include({ status: "completed" });
 */
export async function memoryWorkers(given: MemoryWorkersOptions = {}): Promise<MemoryWorkers> {
  const [provider, fallback] = [new ScriptedProvider(), new ScriptedProvider("fallback")];
  const links = new Map<string, Uint8Array | Error>();
  const outage = { isOn: false };
  const capabilities = { ...NO_CAPABILITIES, ...given.capabilities };
  const providers = (given.withFallback === true ? [provider, fallback] : [provider]).map(
    ({ definition: { id, label, models } }): CatalogueProvider => ({
      ...capabilities,
      ...{ id, label, enabled: true, isReachable: true },
      models: models.map((model) => ({ ...model, ...given.model })),
      ...given.catalogue,
    }),
  );
  const routes: RoutePreferences = {
    fallbacks: given.withFallback === true ? { "scripted/song": ["fallback/song"] } : {},
    splits: { stem_split: providers.map(({ id }) => id), vocal_removal: providers.map(({ id }) => id) },
  };
  const memory = await memoryCore({
    options: {
      ...{ providers, routes, reachableUrl: "https://music.example" },
      breaker: { failures: 1_000, openMs: 30_000 },
      // Most tests are of what workers do.
      maintenance: { everyMs: 30_000 },
      tiers: OPTIONS.tiers.map((tier) => ({ ...tier, maxConcurrent: 1_000 })),
      ...given.options,
      jobs: { ...OPTIONS.jobs, sweepMs: 5_000, ...given.jobs },
    },
    ports: (storage) => ({
      assetOpener: openerOf(links),
      audioAnalyser: { analyse: () => Promise.resolve(null), close: () => Promise.resolve() },
      coverPainter: { paint: () => Promise.resolve(scriptedBytes("image/png")) },
      unitOfWork: new FaultyPort(storage.unitOfWork).failOn(
        "inTransaction",
        () => new ServiceUnavailableError(),
        () => outage.isOn,
      ),
      ...given.ports?.(storage),
    }),
  });
  const { core, storage, clock } = memory;
  const { id: accountId } = await storage.addAccount({}, { pack: 10_000 });
  const working = (): WorkingProvider[] =>
    (given.withFallback === true ? [provider, fallback] : [provider]).map((one) => ({
      ...{ id: one.definition.id, label: one.definition.label, concurrency: 8, maxInFlight: null },
      ...{ capabilities, callLimitMs: CALL_LIMIT_MS, provider: one, poll: pollOf(one, clock, null) },
      ...given.working,
    }));
  const pass = async (ms = 0): Promise<void> => {
    for (let left = ms; ; left -= STEP_MS) {
      await clock.advance(Math.min(left, STEP_MS));
      await nextTurn();
      if (left <= STEP_MS) break;
    }
    await nextTurn();
  };
  return {
    ...memory,
    ...{ provider, fallback, links, outage, accountId, pass },
    async accept(input = {}) {
      const song = { modelId: "scripted/song", prompt: "rain on a tin roof", instrumental: true };
      const { id } = await core.generations.create(accountId, { ...song, ...input });
      return id;
    },
    async split() {
      const track = aTrack({ accountId });
      await storage.inTransaction((tx) => storage.library.insertTracks(tx, [track]));
      return (await core.splits.start({ kind: "stem_split", accountId, trackId: track.id })).id;
    },
    async start() {
      const workers = core.createWorkers(working());
      await workers.start();
      await pass();
      return workers;
    },
    async stop(workers, graceMs = 0, options = {}) {
      let isStopped = false;
      const stopped = workers.stop(graceMs, options).finally(() => (isStopped = true));
      for (let steps = 0; !isStopped && steps < 10_000; steps++) await pass(STEP_MS);
      return stopped;
    },
    async job(id) {
      const found = (await storage.jobs.findJobs([id])).get(id);
      if (found === undefined) throw new Error(`There is no job ${id}.`);
      return found;
    },
    attempts: (id) => storage.jobs.listAttempts(id),
    entries: async (id) => (await storage.ledger.entriesOfJob(id)).map(({ kind }) => kind),
    messages: () => memory.logger.lines.map(({ message }) => message),
    fieldsOf(message) {
      const line = memory.logger.lines.find((one) => one.message === message);
      if (line === undefined) throw new Error(`Not logged: ${message}`);
      return line.fields;
    },
  };
}

/** Opens what providers give as bytes, and the links of a test. */
function openerOf(links: ReadonlyMap<string, Uint8Array | Error>): AssetOpener {
  return {
    open: async (source) => {
      const found = source.kind === "bytes" ? source.bytes : source.kind === "url" ? links.get(source.url) : undefined;
      if (found === undefined) throw new ProviderFailure("gone", "The link is dead.");
      if (found instanceof Error) throw found;
      const contentType = contentTypeOf(Buffer.from(found));
      if (contentType === null) throw new ProviderFailure("failed", "It is neither audio nor an image.");
      return {
        contentType,
        bytes: (async function* () {
          yield found;
        })(),
      };
    },
    close: () => Promise.resolve(),
  };
}
