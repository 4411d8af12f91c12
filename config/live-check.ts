import { Writable } from "node:stream";
import type { LiveCheckSession, LivePlan } from "../adapters/cli/host.js";
import { AddressPolicy, DnsAddressGuard } from "../adapters/network/index.js";
import { WinstonLogger } from "../adapters/observability/winston-logger.js";
import { SystemClock } from "../adapters/system/clock.js";
import { UlidGenerator } from "../adapters/system/id-generator.js";
import { SystemRandom } from "../adapters/system/random.js";
import { OperationRefusedError } from "../core/errors.js";
import { OBEY_MS } from "../core/execution/call-plugin.js";
import { LiveCheck, type LiveCheckDeps } from "../core/live-check/live-check.js";
import { LiveFiles } from "../core/live-check/live-files.js";
import { liveGenerationOf } from "../core/live-check/live-generation.js";
import type { WorkingProvider } from "../core/execution/working-provider.js";
import { assetOpenerFor } from "./asset-opener.js";
import { openAnalyser } from "./bindings/ports.js";
import { loadOnePlugin } from "./live-plugin.js";
import { openPluginSandbox } from "./plugin-sandbox.js";
import { maskOf } from "./plugin-secrets.js";
import { type LoadedPlugin, startPlugin } from "./plugins.js";
import { ProviderFetch } from "./provider-fetch.js";
import type { Settings } from "./settings.js";
import { nextStopSignal, type SignalledProcess, type StopSignal } from "./stop-signal.js";

export type LiveProcess = Pick<NodeJS.Process, "cwd" | "stderr"> & SignalledProcess;

/**
 * Starts one plugin with its settings for a live check. Neither the storage nor a queue is opened, and nothing is
 * called.
 *
 * @param use as {@link loadOnePlugin} takes it
 * @param modelId the model to buy of; null: the cheapest
 * @throws as {@link loadOnePlugin} does; {@link OperationRefusedError} also for an unknown model, and for a plugin that
 *   cannot start
 */
export async function openLiveCheck(
  settings: Settings,
  use: string,
  modelId: string | null,
  process: LiveProcess,
): Promise<LiveCheckSession> {
  const plugin = await loadOnePlugin(settings, use, process.cwd());
  const generation = liveGenerationOf(plugin.models, modelId);
  const masked = maskOf(plugin);
  const clock = new SystemClock();
  const logger = WinstonLogger.open({ ...settings.logs, stream: maskedStream(process.stderr, masked) });
  const guard = new DnsAddressGuard(new AddressPolicy(settings.webhooks));
  const providerFetch = new ProviderFetch(guard);
  const fetch = providerFetch.fetchFor(plugin.outgoing);
  const working = started(() => startPlugin(plugin, { clock, logger, fetch, sandbox: openPluginSandbox }), masked);
  const { allowHttp } = settings.webhooks;
  const opener = assetOpenerFor({ plugins: [plugin], guard, clock, allowHttp });
  const analyser = openAnalyser(settings);
  const files = new LiveFiles({ opener, analyser, clock, maxBytes: settings.audio.maxBytes });
  const ids = new UlidGenerator(clock, new SystemRandom());
  const { renderDeadlineMinutes, confirmSeconds } = settings.jobs;
  const policy = { renderDeadlineMs: renderDeadlineMinutes * 60_000, confirmMs: confirmSeconds * 1_000 };
  const plan: LivePlan = {
    id: working.id,
    label: working.label,
    addresses: addressesOf(plugin).map(masked),
    hasProbe: working.provider.probe !== undefined,
    generation,
  };
  const close = async (): Promise<void> => {
    try {
      await working.provider.close?.();
    } catch (error) {
      // Its message may quote settings: the log masks them.
      logger.warn("A plugin could not be closed", { error });
    }
    await Promise.all([opener.close(), analyser.close(), providerFetch.close()]);
    await logger.close();
  };
  return new LiveSession(plan, { working, files, clock, ids, logger, policy, masked }, process, close);
}

class LiveSession implements LiveCheckSession {
  private stop: StopSignal | null = null;

  constructor(
    readonly plan: LivePlan,
    private readonly deps: Omit<LiveCheckDeps, "signals" | "report">,
    private readonly process: LiveProcess,
    private readonly closeAll: () => Promise<void>,
  ) {}

  async run(report: Parameters<LiveCheckSession["run"]>[0]): ReturnType<LiveCheckSession["run"]> {
    // A submission and the cancelling of its work, each at its longest.
    const waitMs = 2 * (this.deps.working.callLimitMs + OBEY_MS);
    const stop = nextStopSignal(this.process, waitMs, () => report({ type: "forced" }));
    this.stop = stop;
    const interrupted = new AbortController();
    void stop.received.then(() => {
      stop.limit(waitMs);
      interrupted.abort();
    });
    const signals = { interrupted: interrupted.signal, ended: stop.again };
    return new LiveCheck({ ...this.deps, signals, report }).run(this.plan.generation);
  }

  /** A plugin that does not close is ended by signals, as its calls are. */
  async close(): Promise<void> {
    try {
      await this.closeAll();
    } finally {
      this.stop?.forget();
    }
  }
}

/** What a plugin says of its own settings may quote them. */
function started(start: () => WorkingProvider, masked: (text: string) => string): WorkingProvider {
  try {
    return start();
  } catch (error) {
    throw new OperationRefusedError(masked(error instanceof Error ? error.message : String(error)));
  }
}

/** Lines of a log come whole. */
function maskedStream(stream: NodeJS.WritableStream, masked: (text: string) => string): Writable {
  return new Writable({ write: (chunk: Buffer, _encoding, done) => void stream.write(masked(chunk.toString()), done) });
}

/** Where its calls go: the URLs of its settings without credentials and queries, else the hosts that it names. */
function addressesOf({ definition, settings }: LoadedPlugin): string[] {
  const urls = Object.entries(settings).flatMap(([name, value]) =>
    definition.settings[name]?.secret === true || typeof value !== "string" ? [] : urlsIn(value),
  );
  if (urls.length > 0) return [...new Set(urls.map(({ origin, pathname }) => `${origin}${pathname}`))];
  const { hosts = [] } = definition;
  return [...(typeof hosts === "function" ? hosts(settings) : hosts)];
}

function urlsIn(value: string): URL[] {
  const words = value.split(/[\s,]+/).filter((word) => /^https?:\/\//i.test(word) && URL.canParse(word));
  return words.map((word) => new URL(word));
}
