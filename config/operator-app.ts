import type { CliHost, OperatorApp } from "../adapters/cli/host.js";
import { presentCredits } from "../adapters/http/presenters/credits.js";
import { exportedPath, presentExported } from "../adapters/http/presenters/exported.js";
import { presentJob } from "../adapters/http/presenters/job.js";
import { presentPlaylist } from "../adapters/http/presenters/playlist.js";
import { presentTimeline } from "../adapters/http/presenters/timeline.js";
import { presentSingleTrack, presentTrack } from "../adapters/http/presenters/track.js";
import { presentWebhookEndpoint } from "../adapters/http/presenters/webhook-endpoint.js";
import type { Logger } from "../core/ports/logger.js";
import { composeHeadless } from "./compose.js";
import type { Settings } from "./settings.js";

/** Opens an app for one command, and what it prints results with. */
export async function openOperatorApp(settings: Settings, logger: Logger, actor: string): ReturnType<CliHost["open"]> {
  // No one reads the figures of a process that lives for a second.
  const quiet = { ...settings, metrics: { ...settings.metrics, enabled: false } };
  const app = await composeHeadless(quiet, { logger, actor }, { migrate: false });
  const operator: OperatorApp = {
    ...app,
    generations: app.operateGenerations,
    ledgerSettings: settings.ledger,
    now: () => app.clock.now(),
    close: () => app.stop(),
  };
  const present = {
    credits: presentCredits,
    exported: presentExported,
    exportedPath,
    job: (found: Parameters<typeof presentJob>[0]) => presentJob(found, app.audioUrls),
    webhookEndpoint: presentWebhookEndpoint,
    playlist: (found: Parameters<typeof presentPlaylist>[0]) => presentPlaylist(found, app),
    timeline: presentTimeline,
    track: (track: Parameters<typeof presentTrack>[0]) => presentTrack(track, app),
    singleTrack: (found: Parameters<typeof presentSingleTrack>[0]) => presentSingleTrack(found, app),
    shareUrl: (track: Parameters<typeof app.shareUrls.urlOf>[0]) => app.shareUrls.urlOf(track),
  };
  return { app: operator, present };
}
