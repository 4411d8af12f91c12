import type { ControllerClass } from "../deps.js";
import { CreditsController } from "./credits.js";
import { EventsController } from "./events.js";
import { GenerationsController } from "./generations.js";
import { JobsController } from "./jobs.js";
import { LibraryController } from "./library.js";
import { LogsController } from "./logs.js";
import { ModelsController } from "./models.js";
import { PlaylistsController } from "./playlists.js";
import { ProfileController } from "./profile.js";
import { TracksController } from "./tracks.js";
import { UsageController } from "./usage.js";
import { WebhookEndpointsController } from "./webhook-endpoints.js";

/** Every controller that the generated routes ask for. */
export const CONTROLLERS: readonly ControllerClass[] = [
  CreditsController,
  EventsController,
  GenerationsController,
  JobsController,
  LibraryController,
  LogsController,
  ModelsController,
  PlaylistsController,
  ProfileController,
  TracksController,
  UsageController,
  WebhookEndpointsController,
];
