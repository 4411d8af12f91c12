import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, compose, loadSettings, type Overrides } from "../../config/index.js";
import type { Account } from "../../core/ports/account.js";
import type { Scope } from "../../core/ports/scopes.js";
import { ApiClient } from "./api-client.js";
import { RecordingLogger } from "./doubles/recording-logger.js";
import { ScriptedProvider } from "./doubles/scripted-provider.js";
import { createMigratedFile } from "./databases.js";
import { borrowMysqlDatabase } from "./mysql.js";
import { openQueueSpace } from "./rabbitmq.js";

export interface TestAppOptions extends Overrides {
  /** In the form of the settings file; they override those of {@link TEST_SETTINGS}. */
  readonly settings?: { readonly [group: string]: object };
  /** Whether it runs workers; otherwise every job stays queued. */
  readonly work?: boolean;
  /** Whether it listens; otherwise the router can be mounted. */
  readonly listen?: boolean;
}

export interface AccountOptions {
  readonly tier?: string;
  readonly credits?: number;
  readonly scopes?: readonly Scope[];
  readonly acceptTerms?: boolean;
}

/** A caller with a key of its own. */
export interface TestAccount {
  readonly account: Account;
  readonly keyId: string;
  readonly key: string;
  readonly api: ApiClient;
}

/** A composed app that listens, with an empty database of its own. */
export interface TestApp {
  readonly url: string;
  /** The URL of the metrics; null when there are none. */
  readonly metricsUrl: string | null;
  /** The URL of the admin API; null when it is off. */
  readonly adminUrl: string | null;
  readonly app: App;
  readonly logger: RecordingLogger;
  readonly provider: ScriptedProvider;
  /** A client without a key. */
  readonly anonymous: ApiClient;
  /** A new account: by default of tier pro, with 1,000 credits, terms accepted and all scopes. */
  account(options?: AccountOptions): Promise<TestAccount>;
  close(): Promise<void>;
}

const PLENTY = { perMinute: 1_000_000, perDay: 1_000_000 };

/** No effective limits, failures final at once, only the scripted provider, and metrics at the port of the API. */
const TEST_SETTINGS: { readonly [group: string]: object } = {
  http: { port: 0 },
  rateLimits: { read: PLENTY, generation: PLENTY, write: PLENTY },
  tiers: { free: { maxConcurrent: 1 }, pro: { maxConcurrent: 10_000 } },
  jobs: { maxAttempts: 1, backoffMs: 0, shutdownGraceSeconds: 0.1 },
  breaker: { failures: 10_000 },
  plugins: { synth: { enabled: false } },
  metrics: { port: null },
};

/** The storage and the queue of a test app. */
interface Stack {
  readonly settings: { readonly [group: string]: object };
  clear(): Promise<void>;
}

/**
 * `FERMATA_TEST_STACK=mysql-rabbitmq` runs the same tests on the services; without it they run on the embedded default.
 * Of what a test itself names none is opened.
 */
async function openStack(dataDir: string, { settings = {}, stores, database }: TestAppOptions): Promise<Stack> {
  const namesStorage = stores !== undefined || database !== undefined || settings["storage"] !== undefined;
  const namesQueue = "url" in (settings["queue"] ?? {});
  if (process.env["FERMATA_TEST_STACK"] !== "mysql-rabbitmq") {
    if (!namesStorage) await createMigratedFile(join(dataDir, "fermata.sqlite"));
    return { settings: {}, clear: () => Promise.resolve() };
  }
  const [mysql, queues] = await Promise.all([
    namesStorage ? null : borrowMysqlDatabase(),
    namesQueue ? null : openQueueSpace(),
  ]);
  return {
    settings: {
      ...(mysql === null ? {} : { storage: { url: mysql.url } }),
      ...(queues === null ? {} : { queue: { url: queues.url } }),
    },
    async clear() {
      await mysql?.drop();
      await queues?.clear("scripted", "synth");
    },
  };
}

export async function startTestApp({
  settings = {},
  work = false,
  listen = true,
  ...overrides
}: TestAppOptions = {}): Promise<TestApp> {
  const dataDir = await mkdtemp(join(tmpdir(), "fermata-api-"));
  const logger = new RecordingLogger();
  const provider = new ScriptedProvider();
  const stack = await openStack(dataDir, { settings, ...overrides });
  const chosen = merged(merged(TEST_SETTINGS, stack.settings), settings);
  const app = await compose(
    loadSettings({ env: {}, cwd: dataDir, isTerminal: false, overrides: { dataDir, ...chosen } }),
    { logger, plugins: [provider.definition], ...overrides },
  );
  const close = async (): Promise<void> => {
    await app.stop();
    await stack.clear();
    await rm(dataDir, { recursive: true, force: true });
  };
  let at: Awaited<ReturnType<App["listen"]>> = { url: "", metricsUrl: null, adminUrl: null };
  try {
    if (work) await app.work();
    if (listen) at = await app.listen();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...at,
    app,
    logger,
    provider,
    anonymous: new ApiClient(at.url, null),
    async account({ tier = "pro", credits = 1_000, scopes, acceptTerms = true } = {}) {
      const account = await app.accounts.create({ name: "Nightingale Radio", tier, credits, acceptTerms });
      const { key, token } = await app.accounts.issueKey(account.id, scopes === undefined ? {} : { scopes });
      return { account, keyId: key.id, key: token, api: new ApiClient(at.url, token) };
    },
    close,
  };
}

function merged(
  base: { readonly [group: string]: object },
  given: { readonly [group: string]: object },
): { readonly [group: string]: object } {
  const groups = new Set([...Object.keys(base), ...Object.keys(given)]);
  return Object.fromEntries([...groups].map((group) => [group, { ...base[group], ...given[group] }]));
}
