import type { ControllerClass } from "../parts.js";
import { CreditsController } from "./credits.js";
import { GenerationsController } from "./generations.js";
import { JobsController } from "./jobs.js";
import { LogsController } from "./logs.js";
import { ModelsController } from "./models.js";
import { ProfileController } from "./profile.js";
import { UsageController } from "./usage.js";
import { WebhookEndpointsController } from "./webhook-endpoints.js";

/** Every controller that the generated routes ask for. */
export const CONTROLLERS: readonly ControllerClass[] = [
  CreditsController,
  GenerationsController,
  JobsController,
  LogsController,
  ModelsController,
  ProfileController,
  UsageController,
  WebhookEndpointsController,
];
