import { dirname } from "node:path";
import { checkSecretKey } from "../adapters/crypto/doctor.js";
import { AddressPolicy, DnsAddressGuard } from "../adapters/network/index.js";
import { checkStorage } from "../adapters/storage/sql/doctor/doctor.js";
import { createStores, type KnexDatabase, openDatabase, type Stores } from "../adapters/storage/sql/index.js";
import { checkClock, checkFolder } from "../adapters/system/doctor.js";
import { SystemClock } from "../adapters/system/clock.js";
import { SystemRandom } from "../adapters/system/random.js";
import type { Logger } from "../core/ports/logger.js";
import { failed, type CheckResult, ok, warning } from "../core/ports/self-check.js";
import { FIRST_KEY } from "../core/secrets/key-state.js";
import { KeyStates } from "../core/secrets/key-states.js";
import { findBlockedEndpoints } from "../core/webhooks/blocked-endpoints.js";
import { s3Credentials } from "./adapters.js";
import { checkProviders } from "./doctor-providers.js";
import { submissionsResult } from "./doctor-submissions.js";
import { checkTrustedProxies } from "./doctor-proxies.js";
import { rotationResult } from "./doctor-secrets.js";
import { operatorAgents, withOperatorFetch } from "./operator-network.js";
import { missingPackages, PACKAGE_USERS } from "./optional-packages.js";
import { type LoadedPlugin, loadPlugins } from "./plugins.js";
import { type AUDIO_SCHEMES, pathOfUrl, type QUEUE_SCHEMES, type Settings } from "./settings.js";
import { SettingsError } from "./settings/issues.js";

const NODE_MIN = [20, 19] as const;
/** More are counted only. */
const ENDPOINTS_SHOWN = 10;

/** URL scheme to the checks of its adapter, as `adapters.ts` has the adapters. */
const QUEUES: Readonly<
  Record<
    keyof typeof QUEUE_SCHEMES,
    (settings: Settings, providerIds: readonly string[]) => Promise<readonly CheckResult[]>
  >
> = {
  memory: async ({ jobs }) => {
    const later = `workers in other processes notice new jobs only by polling, every jobs.sweepMs (${jobs.sweepMs} ms)`;
    return [ok("queue", `Notifications reach this process only; ${later}.`)];
  },
  amqp: checkBroker,
  amqps: checkBroker,
};

const AUDIO_STORES: Readonly<
  Record<keyof typeof AUDIO_SCHEMES, (settings: Settings) => Promise<readonly CheckResult[]>>
> = {
  file: ({ audio }) =>
    checkFolder({
      name: "audio directory",
      path: pathOfUrl(audio.url),
      setting: "audio.url",
      fileMaxBytes: audio.maxBytes,
      isPrivate: true,
    }),
  s3: checkS3Bucket,
};

/** Checks everything that a start needs, and names the fix for each problem. */
export async function check(settings: Settings, logger: Logger): Promise<readonly CheckResult[]> {
  // The checks of what they are for would fail on them, too.
  const missing = missingPackages(settings, PACKAGE_USERS);
  if (missing.length > 0)
    return [
      checkNode(),
      ...missing.map(({ chosen, fix }) => failed(`packages for ${chosen}`, "They are not installed.", `Run ${fix}.`)),
    ];
  const plugins = await checkPlugins(settings);
  const storage = await checkStorage({ ...settings.storage, logger });
  const isReadable = storage.every(({ result }) => result !== "failed");
  return [
    checkNode(),
    plugins.result,
    ...(await checkProviders(plugins.loaded, logger, new DnsAddressGuard(new AddressPolicy(settings.webhooks)))),
    checkPublicUrl(settings),
    checkTrustedProxies(settings.http),
    ...(await checkFolders(settings)),
    await checkSecretKey({
      given: settings.secrets.key,
      givenToo: settings.secrets.previousKey,
      dataDir: settings.dataDir,
      kept: isReadable ? await keptKey(settings, logger) : null,
      isShared: schemeOf(settings.storage.url) !== "sqlite",
    }),
    ...(await AUDIO_STORES[schemeOf(settings.audio.url) as keyof typeof AUDIO_STORES](settings)),
    ...storage,
    ...(isReadable
      ? [
          await checkRotation(settings, logger),
          await checkStorageClock(settings, logger),
          await checkSubmissions(settings, logger),
          await checkWebhooks(settings, logger),
        ]
      : []),
    ...(await QUEUES[schemeOf(settings.queue.url) as keyof typeof QUEUES](settings, plugins.enabled)),
  ];
}

function checkNode(): CheckResult {
  const name = "node";
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isOld = major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]);
  if (isOld)
    return failed(name, `Node ${process.versions.node} is too old.`, `Install Node ${NODE_MIN.join(".")} or later.`);
  return ok(name, `Node ${process.versions.node}.`);
}

async function checkPlugins(settings: Settings): Promise<{
  readonly result: CheckResult;
  readonly loaded: readonly LoadedPlugin[];
  readonly enabled: readonly string[];
}> {
  const name = "plugins";
  try {
    const plugins = await loadPlugins(settings);
    const enabled = plugins.filter((plugin) => plugin.enabled).map((plugin) => plugin.definition.id);
    if (enabled.length > 0) return { result: ok(name, `Enabled: ${enabled.join(", ")}.`), loaded: plugins, enabled };
    return {
      result: failed(name, "No plugin is enabled, so no model is available.", "Set plugins.ID.enabled to true."),
      loaded: plugins,
      enabled,
    };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return {
      result: failed(name, `${error.lines.join("; ")}.`, "Correct these settings; the plugin's README lists its own."),
      loaded: [],
      enabled: [],
    };
  }
}

function checkPublicUrl({ http }: Settings): CheckResult {
  const name = "public address";
  if (http.publicUrl !== null) return ok(name, `Links begin with ${http.publicUrl}.`);
  const isLocal = http.host === "127.0.0.1" || http.host === "::1" || http.host === "localhost";
  if (isLocal)
    return ok(name, "Links begin with the listen address; behind a proxy, http.publicUrl is what callers use.");
  return failed(
    name,
    `Links begin with the listen address, ${http.host}, which callers cannot use.`,
    "Set http.publicUrl to what callers use.",
  );
}

async function checkFolders({ dataDir, storage, audio }: Settings): Promise<readonly CheckResult[]> {
  const fileMaxBytes = audio.maxBytes;
  const data = { name: "data directory", path: dataDir, setting: "dataDir", fileMaxBytes, isPrivate: true };
  const found = await checkFolder(data);
  const database = schemeOf(storage.url) === "sqlite" ? dirname(pathOfUrl(storage.url)) : dataDir;
  if (database === dataDir) return found;
  // It may hold other things too, as /var/lib does; the check of the file sees who may read the database.
  const place = { name: "database directory", path: database, setting: "storage.url", fileMaxBytes, isPrivate: false };
  return [...found, ...(await checkFolder(place))];
}

/** The id of the key that has to be there; null while the storage has none. */
function keptKey(settings: Settings, logger: Logger): Promise<string | null> {
  return withStores(settings, logger, async ({ installation, unitOfWork }) => {
    const state = await new KeyStates({ installation, unitOfWork }).find();
    return state?.current ?? installation.find(FIRST_KEY);
  });
}

function checkRotation(settings: Settings, logger: Logger): Promise<CheckResult> {
  return withStores(settings, logger, async ({ installation, unitOfWork }) => {
    return rotationResult(await new KeyStates({ installation, unitOfWork }).find(), Date.now());
  });
}

function checkSubmissions(settings: Settings, logger: Logger): Promise<CheckResult> {
  return withStores(settings, logger, ({ installation }) => submissionsResult(settings, installation));
}

/** Endpoints that were fine at registration and whose names have moved since, before the next event finds out. */
async function checkWebhooks(settings: Settings, logger: Logger): Promise<CheckResult> {
  const name = "webhook endpoints";
  const guard = new DnsAddressGuard(new AddressPolicy(settings.webhooks));
  const blocked = await withStores(settings, logger, ({ webhooks }) => findBlockedEndpoints(webhooks, guard));
  if (blocked.length === 0) return ok(name, "No active endpoint points to an address that may not be reached.");
  const shown = blocked
    .slice(0, ENDPOINTS_SHOWN)
    .map(({ endpoint, addresses }) => `${endpoint.id} (${[new URL(endpoint.url).host, ...addresses].join(", ")})`);
  const more = blocked.length > shown.length ? ` and ${blocked.length - shown.length} more` : "";
  return warning(
    name,
    `Deliveries to ${shown.join("; ")}${more} would be refused: the address may not be reached.`,
    "Notify the owner, or allow the host or network: webhooks.allowHosts, webhooks.allowNetworks.",
  );
}

function checkStorageClock(settings: Settings, logger: Logger): Promise<CheckResult> {
  return withDatabase(settings, logger, (database) => {
    return checkClock({ readStorageTime: () => database.readTime(), wall: () => Date.now() });
  });
}

function withStores<T>(settings: Settings, logger: Logger, work: (stores: Stores) => Promise<T>): Promise<T> {
  const ports = { clock: new SystemClock(), random: new SystemRandom() };
  return withDatabase(settings, logger, (database) => work(createStores(database, ports)));
}

async function withDatabase<T>(
  { storage }: Settings,
  logger: Logger,
  work: (database: KnexDatabase) => Promise<T>,
): Promise<T> {
  const database = await openDatabase({ ...storage, logger });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Loaded when chosen, as the adapter is. */
async function checkBroker({ queue }: Settings, providerIds: readonly string[]): Promise<readonly CheckResult[]> {
  const { checkRabbitmq } = await import("../adapters/queue/rabbitmq/doctor.js");
  return withOperatorFetch((fetch) => checkRabbitmq({ url: queue.url, providerIds, fetch }));
}

/** The same. */
async function checkS3Bucket({ audio }: Settings): Promise<readonly CheckResult[]> {
  const { checkBucket } = await import("../adapters/audio/s3/doctor.js");
  return checkBucket({
    url: audio.url,
    credentials: () => s3Credentials(audio),
    givesLinks: audio.redirect,
    agents: operatorAgents,
  });
}

function schemeOf(url: string): string {
  return url.slice(0, url.indexOf(":"));
}
