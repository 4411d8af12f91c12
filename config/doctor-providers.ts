import { SystemClock } from "../adapters/system/clock.js";
import { clampFailure, clampResult } from "../core/results/clamp-result.js";
import type { AddressGuard } from "../core/ports/address-guard.js";
import type { Logger } from "../core/ports/logger.js";
import { type ProbeResult, ProviderFailure } from "../core/ports/music-provider.js";
import { failed, type CheckResult, ok, warning } from "../core/ports/self-check.js";
import { openPluginSandbox } from "./plugin-sandbox.js";
import { type LoadedPlugin, startPlugin } from "./plugins.js";
import { ProviderFetch } from "./provider-fetch.js";

const PROBE_TIMEOUT_MS = 10_000;

/**
 * Probes every provider that is on and has a probe: does it accept our key, and what credit is left? It creates no
 * work.
 */
export async function checkProviders(
  plugins: readonly LoadedPlugin[],
  logger: Logger,
  guard: AddressGuard,
): Promise<readonly CheckResult[]> {
  const providerFetch = new ProviderFetch(guard);
  try {
    const found = await Promise.all(
      plugins.filter(({ enabled }) => enabled).map((plugin) => checkProvider(plugin, providerFetch, logger)),
    );
    return found.flatMap((result) => result ?? []);
  } finally {
    await providerFetch.close();
  }
}

async function checkProvider(
  plugin: LoadedPlugin,
  providerFetch: ProviderFetch,
  logger: Logger,
): Promise<CheckResult | null> {
  const { id } = plugin.definition;
  const name = `provider ${id}`;
  try {
    const { provider } = startPlugin(plugin, {
      clock: new SystemClock(),
      logger,
      fetch: providerFetch.fetchFor(plugin.outgoing),
      sandbox: openPluginSandbox,
    });
    try {
      if (provider.probe === undefined) return null;
      return classified(name, id, clampResult(await provider.probe({ signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })));
    } finally {
      await provider.close?.();
    }
  } catch (error) {
    if (!ProviderFailure.is(error))
      return failed(name, messageOf(error), `Correct plugins.${id}; its README lists its settings.`);
    const { message } = clampFailure(error);
    if (error.kind === "misconfigured")
      return failed(name, `It refuses the key: ${message}`, `Set the key and the region of plugins.${id}.`);
    if (error.kind === "out_of_credit")
      return failed(name, `No credit is left: ${message}`, "Buy credit at the provider.");
    return warning(
      name,
      `It could not be asked (${error.kind}): ${message}`,
      "Try again; if it stays so, look at the provider's status page.",
    );
  }
}

function classified(name: string, id: string, { credit, warnings }: ProbeResult): CheckResult {
  const left = credit === null ? "" : `, ${credit.amount} ${credit.unit} left`;
  if (credit !== null && credit.amount <= 0)
    return failed(name, `It takes the key${left}.`, "Buy credit at the provider.");
  if (warnings.length > 0)
    return warning(name, warnings.join("; "), `Look into the provider's console, or correct plugins.${id}.`);
  return ok(name, `It takes the key${left}.`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
