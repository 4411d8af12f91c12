import type { ControllerClass } from "../../deps.js";
import { AdminAccountsController, AdminKeysController } from "./accounts.js";
import { AdminCreditsController } from "./credits.js";
import { AdminExportController } from "./export.js";
import { AdminGenerationsController } from "./generations.js";
import { AdminInstallationController } from "./installation.js";
import { AdminJobsController, AdminSubmissionsController } from "./jobs.js";
import { AdminAccountTracksController, AdminImportsController, AdminTracksController } from "./library.js";
import { AdminMaintenanceController } from "./maintenance.js";
import { AdminOverviewController, AdminRateLimitsController } from "./overview.js";
import { AdminAccountPlaylistsController, AdminPlaylistsController } from "./playlists.js";
import { AdminDeliveriesController, AdminWebhooksController } from "./webhooks.js";

/** Every controller that the generated routes of the admin API ask for. */
export const ADMIN_CONTROLLERS: readonly ControllerClass[] = [
  AdminAccountPlaylistsController,
  AdminAccountTracksController,
  AdminAccountsController,
  AdminCreditsController,
  AdminDeliveriesController,
  AdminExportController,
  AdminGenerationsController,
  AdminImportsController,
  AdminInstallationController,
  AdminJobsController,
  AdminKeysController,
  AdminMaintenanceController,
  AdminOverviewController,
  AdminPlaylistsController,
  AdminRateLimitsController,
  AdminSubmissionsController,
  AdminTracksController,
  AdminWebhooksController,
];
