import type { ControllerClass } from "../../deps.js";
import { AdminAccountsController, AdminKeysController } from "./accounts.js";
import { AdminCreditsController } from "./credits.js";
import { AdminExportController } from "./export.js";
import { AdminInstallationController } from "./installation.js";
import { AdminJobsController, AdminSubmissionsController } from "./jobs.js";
import { AdminMaintenanceController } from "./maintenance.js";
import { AdminOverviewController, AdminRateLimitsController } from "./overview.js";
import { AdminDeliveriesController, AdminWebhooksController } from "./webhooks.js";

/** Every controller that the generated routes of the admin API ask for. */
export const ADMIN_CONTROLLERS: readonly ControllerClass[] = [
  AdminAccountsController,
  AdminCreditsController,
  AdminDeliveriesController,
  AdminExportController,
  AdminInstallationController,
  AdminJobsController,
  AdminKeysController,
  AdminMaintenanceController,
  AdminOverviewController,
  AdminRateLimitsController,
  AdminSubmissionsController,
  AdminWebhooksController,
];
