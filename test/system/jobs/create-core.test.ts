import { rm } from "node:fs/promises";
import { expect } from "chai";
import { LocalAudioStore } from "../../../adapters/audio/local/audio-store.js";
import { NoAudioAnalyser } from "../../../adapters/audio/analyser/no-analyser.js";
import { PaperCoverPainter } from "../../../adapters/cover-art/cover-painter.js";
import { GuardedAssetOpener } from "../../../adapters/downloads/asset-opener.js";
import { SystemClock } from "../../../adapters/system/clock.js";
import type { CoreOptions } from "../../../core/core-options.js";
import { type Core, createCore } from "../../../core/create-core.js";
import type { GenerationEvent } from "../../../core/generations/listening.js";
import { NO_UPLOADS } from "../../support/builders.js";
import { corePorts } from "../../support/core-ports.js";
import { type SqliteUnderTest, sqliteStorage, temporaryFolder } from "../../support/databases.js";
import { RecordingMetrics } from "../../support/doubles/recording-metrics.js";
import { ScriptedProvider } from "../../support/doubles/scripted-provider.js";

const PLENTY = { perMinute: 1_000, perDay: 1_000 };
const SCRIPTED = new ScriptedProvider();
const { id, label, models } = SCRIPTED.definition;
const CAPABILITIES = { idempotentSubmit: false, lookup: false, cancel: false };

const OPTIONS: CoreOptions = {
  actor: "harness",
  tiers: [
    {
      name: "pro",
      maxConcurrent: 10,
      monthlyCredits: 0,
      rateLimits: { read: PLENTY, generation: PLENTY, write: PLENTY },
      uploads: NO_UPLOADS,
    },
  ],
  providers: [{ id, label, models, enabled: true, isReachable: false }],
  routes: { fallbacks: {}, splits: { stem_split: [], vocal_removal: [] } },
  breaker: { failures: 5, openMs: 30_000 },
  jobs: {
    retry: { maxAttempts: 3, backoffMs: 1_000 },
    queueDeadlineMs: 3_600_000,
    renderDeadlineMs: 3_600_000,
    unknownGraceMs: 120_000,
    confirmMs: 60_000,
    leaseMs: 30_000,
    sweepMs: 1_000,
    submissions: "active",
  },
  splitCosts: { stem_split: 10, vocal_removal: 10 },
  idempotencyTtlMs: 86_400_000,
  authFailuresPerMinute: 60,
  publicUrl: () => "https://music.example",
  reachableUrl: null,
  audio: { maxBytes: 1_000_000, urlTtlMs: 3_600_000 },
  uploads: { maxBytes: 1_000_000, maxSeconds: 600, decodes: false },
  webhooks: {
    allowHttp: false,
    timeoutMs: 15_000,
    scheduleMs: [5_000],
    eventBody: ({ job }) => ({ job_id: job.id }),
  },
  redact: (text) => text,
};

describe("createCore", () => {
  let storage: SqliteUnderTest;
  let folder: string;
  let metrics: RecordingMetrics;

  beforeEach(async () => {
    storage = await sqliteStorage.open();
    folder = await temporaryFolder();
    metrics = new RecordingMetrics();
  });

  afterEach(async () => {
    await storage.close();
    await rm(folder, { recursive: true });
  });

  const open = async (options: Partial<CoreOptions> = {}): Promise<Core> => {
    const clock = new SystemClock();
    const connect = (): never => {
      throw new Error("This provider gives bytes.");
    };
    const ports = corePorts(storage, {
      clock,
      metrics,
      audio: await LocalAudioStore.open(folder),
      audioAnalyser: new NoAudioAnalyser(),
      coverPainter: new PaperCoverPainter(),
      assetOpener: new GuardedAssetOpener({ connect, clock, version: "0.0.0" }),
    });
    return createCore(ports, { ...OPTIONS, ...options });
  };

  it("creates a complete core of ports and options: an account pays for a generation and plays it", async () => {
    const core = await open();
    const account = await core.accounts.create({ name: "alice", tier: "pro", acceptTerms: true });
    await core.credits.grant(account.id, 100, { bucket: "pack" });
    const ended = new Promise<GenerationEvent>((resolve) => core.events.on("generation.completed", resolve));
    const workers = core.createWorkers([
      {
        ...{ id, label, concurrency: 2, maxInFlight: null, capabilities: CAPABILITIES, callLimitMs: 30_000 },
        provider: new ScriptedProvider(),
        poll: null,
      },
    ]);
    await workers.start();
    try {
      const model = models[0]?.id ?? "";
      const job = await core.operateGenerations.create(account.id, { modelId: model, prompt: "slow sad piano" });
      expect((await ended).generation).to.include({ id: job.id, status: "completed" });
      expect(metrics.counted).to.deep.include(["job", "completed"]);
      const { tracks } = await core.library.read.search(account.id, { q: "rain" });
      expect(tracks.map(({ title }) => title)).to.deep.equal(["Rain on a tin roof"]);
      expect((await core.credits.balance(account.id)).spent)
        .to.equal(job.creditsCharged)
        .and.above(0);
      const [record] = await core.audit.list({ limit: 1 });
      expect(record).to.include({ actor: "harness", action: "generations.create" });
    } finally {
      await workers.stop(5_000);
      await core.events.stop();
      await core.api.requests.close(0);
    }
  });

  it("refuses an actor without a name", async () => {
    const opened = await open({ actor: "" }).catch((error: unknown) => error);
    expect(opened).to.be.an.instanceof(Error).with.property("message", "An actor's name has 1 to 100 characters.");
  });
});
