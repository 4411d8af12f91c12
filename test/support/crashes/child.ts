/** A whole Fermata that fails at the points that its environment names. On SIGTERM it says which points it came to. */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { WinstonLogger } from "../../../adapters/observability/winston-logger.js";
import { compose, loadSettings } from "../../../config/index.js";
import { coverPainter } from "./cover.js";
import { boundary } from "./here.js";
import { openSender } from "./sender.js";
import { crashProvider } from "./provider.js";

const settings = loadSettings({ env: process.env, cwd: process.cwd(), isTerminal: false });
const app = await compose(
  settings,
  {
    logger: WinstonLogger.open({ ...settings.logs, stream: process.stderr }),
    plugins: [crashProvider((provider) => boundary.around("provider", provider))],
    coverPainter,
    webhookSender: boundary.around("webhookSender", openSender(settings)),
  },
  { migrate: false },
);
const stopped = once(process, "SIGTERM");
await app.work();
const { url } = await app.listen();
writeSync(1, `listening on ${url}\n`);
await stopped;
await app.stop();
boundary.sayCounts();
process.exit();
