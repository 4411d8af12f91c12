import type { ControllerClass } from "../parts.js";
import { CreditsController } from "./credits.js";
import { GenerationsController } from "./generations.js";
import { JobsController } from "./jobs.js";
import { ModelsController } from "./models.js";
import { ProfileController } from "./profile.js";

/** Every controller that the generated routes ask for. */
export const CONTROLLERS: readonly ControllerClass[] = [
  CreditsController,
  GenerationsController,
  JobsController,
  ModelsController,
  ProfileController,
];
