import {
  type AnsweredRequest,
  createHttp,
  DEFAULT_CONNECTION_LIMITS,
  type Http,
  type HttpDeps,
} from "../../adapters/http/index.js";
import { MemoryRateLimiter } from "../../adapters/rate-limits/memory/rate-limiter.js";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { SystemClock } from "../../adapters/system/clock.js";
import type { Account } from "../../core/ports/account.js";
import { SCOPES } from "../../core/ports/scopes.js";
import { Tiers } from "../../core/accounts/tiers.js";
import { JobNotFoundError } from "../../core/errors.js";
import { AudioUrls } from "../../core/library/audio-urls.js";
import { ShareUrls } from "../../core/library/share-urls.js";
import { Limits } from "../../core/rate-limits/limits.js";
import { ConcurrencyBudget } from "../../core/rate-limits/concurrency-budget.js";
import { NetworkBudget } from "../../core/rate-limits/network-budget.js";
import { aBalance, anAccount, anApiKey, anId, aJob, NO_UPLOADS } from "../support/builders.js";
import { ApiClient } from "../support/api-client.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";
import { FixedKeyring } from "../support/doubles/fixed-keyring.js";

/** The HTTP adapter alone, over use cases that a test supplies. */
export interface FakeHttp {
  readonly http: Http;
  readonly api: ApiClient;
  readonly url: string;
  readonly account: Account;
  readonly logger: RecordingLogger;
  /** The reports that `onAnswered` got. */
  readonly reports: AnsweredRequest[];
  close(): Promise<void>;
}

const PLENTY = { perMinute: 100, perDay: 1_000 };

/** Every request is of one account; a generation is accepted with a job that completed at once. */
export async function startFakeHttp(parts: Partial<HttpDeps> = {}, generationsPerMinute = 100): Promise<FakeHttp> {
  const clock = new SystemClock();
  const account = anAccount();
  const key = anApiKey({ accountId: account.id, scopes: SCOPES });
  const job = aJob({ accountId: account.id });
  const logger = new RecordingLogger();
  const reports: AnsweredRequest[] = [];
  const tier = { name: "pro", maxConcurrent: 1, monthlyCredits: 1 };
  const rateLimits = { read: PLENTY, write: PLENTY, generation: { ...PLENTY, perMinute: generationsPerMinute } };
  const publicUrl = { current: "http://fermata.test" };
  const created: HttpDeps = {
    settings: {
      host: "127.0.0.1",
      port: 0,
      bodyLimitBytes: 10_000,
      trustProxy: false,
      version: "0.0.0",
      webhookScope: null,
      maxWaitSeconds: 55,
      connections: DEFAULT_CONNECTION_LIMITS,
      uploads: { maxBytes: 10_000, timeoutMs: 20_000 },
    },
    publicUrl,
    authenticate: { identify: () => Promise.resolve({ key, account }) },
    limits: new Limits({
      limiter: new MemoryRateLimiter(clock),
      tiers: new Tiers([{ ...tier, rateLimits, uploads: NO_UPLOADS }]),
      authFailuresPerMinute: 2,
    }),
    networkBudget: new NetworkBudget(100),
    waits: new ConcurrencyBudget(100, "requests that wait for a job"),
    credits: { balance: () => Promise.resolve(aBalance({ accountId: account.id })) },
    models: {} as HttpDeps["models"],
    findModels: {} as HttpDeps["findModels"],
    acceptGeneration: {
      execute: ({ idempotency }) =>
        Promise.resolve({ kind: "accepted", job, response: idempotency?.present(job) ?? null }),
    },
    acceptSplit: {} as HttpDeps["acceptSplit"],
    ownLibrary: {} as HttpDeps["ownLibrary"],
    cancelJob: {} as HttpDeps["cancelJob"],
    readGenerations: {
      getJob: () => Promise.resolve({ job, tracks: [], outputs: [] }),
      get: () => Promise.reject(new JobNotFoundError()),
      withTracks: () => Promise.resolve([{ job, tracks: [], outputs: [] }]),
    } as unknown as HttpDeps["readGenerations"],
    waitForJob: { wait: () => Promise.resolve({ ...job, status: "completed" }) },
    followJobs: { follow: () => Promise.resolve(null) },
    readLibrary: {} as HttpDeps["readLibrary"],
    uploadTrack: {} as HttpDeps["uploadTrack"],
    readEvents: {} as HttpDeps["readEvents"],
    usage: {} as HttpDeps["usage"],
    receiveCallback: {} as HttpDeps["receiveCallback"],
    webhookEndpoints: {} as HttpDeps["webhookEndpoints"],
    recordResponse: () => Promise.resolve(),
    audioUrls: new AudioUrls({
      digest: new NodeDigest(),
      clock,
      keyring: new FixedKeyring(),
      library: { linkGeneration: () => Promise.resolve(null) },
      erasures: { isNotedFile: () => Promise.resolve(false) },
      publicUrl: () => publicUrl.current,
      ttlMs: 60_000,
    }),
    shareUrls: new ShareUrls(() => publicUrl.current),
    publicLinks: { findSharedTrack: () => Promise.resolve(null), isSuspended: () => Promise.resolve(false) },
    audioStore: {} as HttpDeps["audioStore"],
    clock,
    ids: { next: anId },
    logger,
    readiness: () => Promise.resolve([]),
    onCompleted: (record) => void reports.push(record),
    controllers: { get: (Controller) => new Controller(created) },
    ...parts,
  };
  const http = createHttp(created);
  const { url } = await http.listen();
  return { http, api: new ApiClient(url, "any"), url, account, logger, reports, close: () => http.close(100) };
}
