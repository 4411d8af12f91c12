import { compose, loadSettings } from "../../config/index.js";
import type { App } from "../../config/app.js";
import { RecordingLogger } from "./doubles/recording-logger.js";
import { ScriptedProvider } from "./doubles/scripted-provider.js";
import { HOSTS } from "./hosts.js";

/** Where the process waits to be killed. */
export const KILL_POINTS = ["after the app's row", "after Fermata's rows", "after the commit"] as const;
export type KillPoint = (typeof KILL_POINTS)[number];

export interface HostProcessTask {
  /** Of one of {@link HOSTS}. */
  readonly kind: string;
  readonly url: string;
  readonly dataDir: string;
  readonly accountId: string;
  readonly point: KillPoint;
}

/** Fermata inside of an app, on a database that both use. */
export function openEmbedded({ url, dataDir }: Pick<HostProcessTask, "url" | "dataDir">): Promise<App> {
  const overrides = { dataDir, storage: { url }, plugins: { synth: { enabled: false } }, metrics: { enabled: false } };
  const plugins = [new ScriptedProvider().definition];
  return compose(loadSettings({ env: {}, cwd: dataDir, overrides }), { logger: new RecordingLogger(), plugins });
}

/** An order that buys credits and creates a generation, in one transaction, as far as the point. */
async function run(task: HostProcessTask): Promise<void> {
  const { kind, accountId, point } = task;
  const app = await openEmbedded(task);
  const host = await HOSTS.find(({ name }) => name === kind)?.open(task.url);
  if (host === undefined) throw new Error(`There is no host ${kind}.`);
  const reached = async (here: KillPoint): Promise<void> => {
    if (here !== point) return;
    process.send?.(here);
    await new Promise(() => setInterval(() => undefined, 60_000));
  };
  const { transaction, addOrder, commit } = await host.begin();
  await addOrder(accountId);
  await reached("after the app's row");
  await app.credits.grant(accountId, 10, { bucket: "pack", reference: accountId, transaction });
  await app.generations.create(accountId, { modelId: "scripted/song", prompt: "rain" }, { key: "17", transaction });
  await reached("after Fermata's rows");
  await commit();
  await reached("after the commit");
}

const [given] = process.argv.slice(2);
if (process.send !== undefined && given !== undefined && given.startsWith("{"))
  await run(JSON.parse(given) as HostProcessTask);
