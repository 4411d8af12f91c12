import { checkSecretKey } from "../adapters/crypto/doctor.js";
import { AddressPolicy, DnsAddressGuard } from "../adapters/network/index.js";
import { checkClock, checkFolder } from "../adapters/system/doctor.js";
import type { Logger } from "../core/ports/logger.js";
import { failed, type CheckResult, ok, warning } from "../core/ports/self-check.js";
import type { WebhookStore } from "../core/ports/webhook-store.js";
import { FIRST_KEY } from "../core/secrets/key-state.js";
import { KeyStates } from "../core/secrets/key-states.js";
import { findBlockedEndpoints } from "../core/webhooks/blocked-endpoints.js";
import { type AdapterChecking, checkAdapter, withOpen } from "./adapters/check.js";
import { type LoadedAdapter, type LoadedAdapters, loadAdapters } from "./adapters/load.js";
import { checkProviders } from "./doctor-providers.js";
import { growthResult } from "./doctor-growth.js";
import { submissionsResult } from "./doctor-submissions.js";
import { checkTrustedProxies } from "./doctor-proxies.js";
import { rotationResult } from "./doctor-secrets.js";
import { missingPackages, PACKAGE_USERS } from "./optional-packages.js";
import { type LoadedPlugin, loadPlugins } from "./plugins.js";
import type { Settings } from "./settings.js";
import { SettingsError } from "./settings/issues.js";

const NODE_MIN = [20, 19] as const;
/** More are counted only. */
const ENDPOINTS_SHOWN = 10;

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
  const adapters = await findAdapters(settings);
  const { dataDir, audio } = settings;
  return [
    checkNode(),
    plugins.result,
    ...(await checkProviders(plugins.loaded, logger, new DnsAddressGuard(new AddressPolicy(settings.webhooks)))),
    checkPublicUrl(settings),
    checkTrustedProxies(settings.http),
    ...(await checkFolder({
      name: "data directory",
      path: dataDir,
      setting: "dataDir",
      fileMaxBytes: audio.maxBytes,
      isPrivate: true,
    })),
    ...("issue" in adapters
      ? [adapters.issue]
      : await checkAdapters(settings, adapters.loaded, { logger, dataDir, providerIds: plugins.enabled })),
  ];
}

async function findAdapters(
  settings: Settings,
): Promise<{ readonly loaded: LoadedAdapters } | { readonly issue: CheckResult }> {
  try {
    return { loaded: await loadAdapters(settings) };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const fix = "Correct these settings; the adapter's README lists its own.";
    return { issue: failed("adapters", `${error.lines.join("; ")}.`, fix) };
  }
}

async function checkAdapters(
  settings: Settings,
  adapters: LoadedAdapters,
  host: AdapterChecking,
): Promise<readonly CheckResult[]> {
  const storage = adapters.get("storage");
  const ofStorage = await checkAdapter(storage, host);
  const isReadable = ofStorage.every(({ result }) => result !== "failed");
  const { kept, results } = isReadable ? await checkStored(settings, storage, host) : { kept: null, results: [] };
  return [
    await checkSecretKey({
      given: settings.secrets.key,
      givenToo: settings.secrets.previousKey,
      dataDir: settings.dataDir,
      kept,
      isShared: storage.isShared,
    }),
    ...(await checkAdapter(adapters.get("audio"), host)),
    ...ofStorage,
    ...results,
    ...(await checkAdapter(adapters.get("queue"), host)),
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

/** What the storage holds that a start depends on. @returns `kept`: the id of the key that has to be there */
async function checkStored(
  settings: Settings,
  adapter: LoadedAdapter<"storage">,
  host: AdapterChecking,
): Promise<{ readonly kept: string | null; readonly results: readonly CheckResult[] }> {
  return withOpen(adapter, host, async ({ stores, readTime }) => {
    const { installation, unitOfWork, webhooks, growth } = stores;
    const state = await new KeyStates({ installation, unitOfWork }).find();
    return {
      kept: state?.current ?? (await installation.find(FIRST_KEY)),
      results: [
        rotationResult(state, Date.now()),
        ...(readTime === undefined ? [] : [await checkClock({ readStorageTime: readTime, wall: () => Date.now() })]),
        await submissionsResult(settings, installation),
        await growthResult(settings, growth, (await readTime?.()) ?? Date.now()),
        await checkWebhooks(settings, webhooks),
      ],
    };
  });
}

/** Endpoints that were fine at registration and whose names have moved since, before the next event finds out. */
async function checkWebhooks(settings: Settings, webhooks: WebhookStore): Promise<CheckResult> {
  const name = "webhook endpoints";
  const blocked = await findBlockedEndpoints(webhooks, new DnsAddressGuard(new AddressPolicy(settings.webhooks)));
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
