import { SystemClock } from "../adapters/system/clock.js";
import { callPlugin, PluginCallError } from "../core/execution/call-plugin.js";
import { InvalidResultFailure } from "../core/results/invalid-result.js";
import type { AddressGuard } from "../core/ports/address-guard.js";
import type { Clock } from "../core/ports/clock.js";
import type { Logger } from "../core/ports/logger.js";
import {
  type CallContext,
  type MusicProvider,
  type ProbeResult,
  ProviderFailure,
} from "../core/ports/music-provider.js";
import { failed, type CheckResult, ok, warning } from "../core/ports/self-check.js";
import { openPluginSandbox } from "./plugin-sandbox.js";
import { type LoadedPlugin, startPlugin } from "./plugins.js";
import { ProviderFetch } from "./provider-fetch.js";

/** Of a call; its signal is aborted then, and `callPlugin` says how long it may take to react to that. */
const CALL_LIMIT_MS = 10_000;

/**
 * Probes every provider that is on and has a probe: does it accept our key, and what credit is left? It creates no
 * work. A plugin that does not end a call, or returns what the port does not allow, keeps no other check from its
 * result.
 *
 * @param clock for the limits of the calls
 */
export async function checkProviders(
  plugins: readonly LoadedPlugin[],
  logger: Logger,
  guard: AddressGuard,
  clock: Clock = new SystemClock(),
): Promise<readonly CheckResult[]> {
  const providerFetch = new ProviderFetch(guard);
  try {
    const found = await Promise.all(
      plugins
        .filter(({ enabled }) => enabled)
        .map((plugin) => new ProviderCheck(plugin, providerFetch, logger, clock).run()),
    );
    return found.flatMap((result) => result ?? []);
  } finally {
    await providerFetch.close();
  }
}

/** The check of one provider. */
class ProviderCheck {
  private readonly id: string;
  private readonly name: string;

  constructor(
    private readonly plugin: LoadedPlugin,
    private readonly providerFetch: ProviderFetch,
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {
    this.id = plugin.definition.id;
    this.name = `provider ${this.id}`;
  }

  /** @returns null for a provider without a probe */
  async run(): Promise<CheckResult | null> {
    const { plugin, providerFetch, logger, clock } = this;
    let provider: MusicProvider;
    try {
      const fetch = providerFetch.fetchFor(plugin.outgoing);
      provider = startPlugin(plugin, { clock, logger, fetch, sandbox: openPluginSandbox }).provider;
    } catch (error) {
      return this.failed(messageOf(error), `Correct plugins.${this.id}; its README lists its settings.`);
    }
    const probed = await this.probe(provider);
    const unclosed = await this.close(provider);
    return probed === null || probed.result === "ok" ? (unclosed ?? probed) : probed;
  }

  /** @returns null where there is no probe */
  private async probe(provider: MusicProvider): Promise<CheckResult | null> {
    try {
      if (provider.probe === undefined) return null;
      return classified(this.name, this.id, await this.call("probe", provider.probe.bind(provider)));
    } catch (error) {
      return this.failure(error);
    }
  }

  /** @returns null when it is closed */
  private async close(provider: MusicProvider): Promise<CheckResult | null> {
    try {
      await this.call("close", async () => provider.close?.());
      return null;
    } catch (error) {
      const message = error instanceof PluginCallError ? error.message : `It does not close: ${messageOf(error)}`;
      return warning(this.name, message, this.askAuthor);
    }
  }

  private call<Result>(name: string, invoke: (context: CallContext) => Promise<Result>): Promise<Result> {
    const { id: providerId, logger, clock } = this;
    const { signal } = new AbortController();
    return callPlugin({ providerId, name, limitMs: CALL_LIMIT_MS, signal, clock, logger, metrics: null }, invoke);
  }

  private failure(error: unknown): CheckResult {
    if (error instanceof InvalidResultFailure || error instanceof PluginCallError)
      return this.failed(error.message, this.askAuthor);
    if (!ProviderFailure.is(error))
      return this.failed(
        `Its probe throws what is no failure of the port: ${messageOf(error)}`,
        `Correct plugins.${this.id}, whose README lists its settings; if they are right, its author corrects the ` +
          "plugin.",
      );
    const { kind, message } = error;
    if (kind === "misconfigured")
      return this.failed(`It refuses the key: ${message}`, `Set the key and the region of plugins.${this.id}.`);
    if (kind === "out_of_credit") return this.failed(`No credit is left: ${message}`, "Buy credit at the provider.");
    return warning(
      this.name,
      `It could not be asked (${kind}): ${message}`,
      "Try again; if it stays so, look at the provider's status page.",
    );
  }

  private failed(message: string, fix: string): CheckResult {
    return failed(this.name, message, fix);
  }

  private get askAuthor(): string {
    return `Report it to the author of the plugin ${this.id}, who corrects it; no setting is the cause.`;
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
