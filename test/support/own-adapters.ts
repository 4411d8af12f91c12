/**
 * The module `./own-adapters.js` of the program in core/README.md: every port, on SQLite and files in the folder that
 * the program runs in, with a provider that returns at once.
 */
import { NoAudioAnalyser } from "../../adapters/audio/analyser/no-analyser.js";
import { LocalAudioStore } from "../../adapters/audio/local/audio-store.js";
import { PaperCoverPainter } from "../../adapters/cover-art/cover-painter.js";
import { GuardedAssetOpener } from "../../adapters/downloads/asset-opener.js";
import { createStores, openDatabase } from "../../adapters/storage/sql/index.js";
import { SystemClock } from "../../adapters/system/clock.js";
import type { CoreOptions } from "../../core/core-options.js";
import type { WorkingProvider } from "../../core/execution/working-provider.js";
import type { CorePorts } from "../../core/ports/core-ports.js";
import { OPTIONS } from "./core-options.js";
import { corePorts } from "./core-ports.js";
import { SILENT, TEST_PORTS } from "./databases.js";
import { ScriptedProvider } from "./doubles/scripted-provider.js";

const CAPABILITIES = { idempotentSubmit: false, lookup: false, cancel: false };

/** What was opened, and what closes it. */
export interface OpenedAdapters {
  readonly ports: CorePorts;
  readonly options: CoreOptions;
  readonly provider: WorkingProvider;
  close(): Promise<void>;
}

export async function openAdapters(folder = process.cwd()): Promise<OpenedAdapters> {
  const database = await openDatabase({ url: `sqlite:${folder}/own.db`, logger: SILENT });
  await database.migrate();
  const clock = new SystemClock();
  const connect = (): never => {
    throw new Error("This provider gives bytes.");
  };
  const ports = corePorts(createStores(database, TEST_PORTS), {
    clock,
    audio: await LocalAudioStore.open(`${folder}/audio`),
    audioAnalyser: new NoAudioAnalyser(),
    coverPainter: new PaperCoverPainter(),
    assetOpener: new GuardedAssetOpener({ connect, clock, version: "0.0.0" }),
  });
  const { id, label, models } = new ScriptedProvider().definition;
  const limits = { concurrency: 2, maxInFlight: null, capabilities: CAPABILITIES, callLimitMs: 30_000 };
  const provider = { id, label, ...limits, provider: new ScriptedProvider(), poll: null };
  const options = { ...OPTIONS, providers: [{ id, label, models, enabled: true, isReachable: false }] };
  return { ports, options, provider, close: () => database.close() };
}
