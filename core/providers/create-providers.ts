import type { CorePorts } from "../ports/core-ports.js";
import { Backlog } from "./backlog.js";
import { CallbackUrls } from "./callback-urls.js";
import { Catalogue, type CatalogueProvider } from "./catalogue.js";
import type { BreakerPolicy } from "./circuit-breaker.js";
import { FindModels } from "./find-models.js";
import { ListModels } from "./list-models.js";
import { Outlooks } from "./outlook.js";
import { ProviderAvailability } from "./provider-availability.js";
import { ReceiveCallback } from "./receive-callback.js";
import { ReportProviders } from "./report-providers.js";
import { RenderTimes } from "./render-times.js";
import { type RoutePreferences, Routes } from "./routes.js";

export interface ProvidersDeps {
  readonly ports: CorePorts;
  readonly providers: readonly CatalogueProvider[];
  readonly routes: RoutePreferences;
  readonly breaker: BreakerPolicy;
  readonly queueDeadlineMs: number;
  /** Where providers reach this installation; null: they cannot. */
  readonly reachableUrl: string | null;
}

export interface Providers {
  readonly catalogue: Catalogue;
  readonly routes: Routes;
  readonly availability: ProviderAvailability;
  readonly renderTimes: RenderTimes;
  readonly backlog: Backlog;
  readonly outlooks: Outlooks;
  readonly models: ListModels;
  readonly findModels: FindModels;
  readonly report: ReportProviders;
  readonly callbackUrls: CallbackUrls;
  readonly receiveCallback: ReceiveCallback;
}

/** The providers, their capabilities, and their callbacks. */
export function createProviders({ ports, queueDeadlineMs, reachableUrl, ...deps }: ProvidersDeps): Providers {
  const { health, unitOfWork, clock, digest, keyring } = ports;
  const catalogue = new Catalogue(deps.providers);
  const routes = new Routes({ catalogue, preferences: deps.routes });
  const availability = new ProviderAvailability({ store: health, unitOfWork, clock, policy: deps.breaker });
  const renderTimes = new RenderTimes({ ...ports, catalogue });
  const backlog = new Backlog({ ...ports, catalogue, renderTimes, queueDeadlineMs });
  const callbackUrls = new CallbackUrls({ digest, keyring, publicUrl: reachableUrl });
  const models = new ListModels({ catalogue, routes, availability });
  return {
    catalogue,
    routes,
    availability,
    renderTimes,
    backlog,
    outlooks: new Outlooks({ ...ports, backlog, renderTimes }),
    models,
    findModels: new FindModels({ models, digest }),
    report: new ReportProviders({ ...ports, catalogue, breaker: deps.breaker }),
    callbackUrls,
    receiveCallback: new ReceiveCallback({ ...ports, urls: callbackUrls }),
  };
}
