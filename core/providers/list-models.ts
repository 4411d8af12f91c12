import type { ReferenceMode } from "../ports/music-provider.js";
import { type PriceBounds, priceBounds } from "./prices.js";
import { modesOf } from "./sources.js";
import type { ProviderAvailability } from "./provider-availability.js";
import { firstOpenRoute, type RoutePreferences, Routes } from "./routes.js";
import { Catalogue, type CatalogueProvider, type Model } from "./catalogue.js";

export interface ListedModel {
  readonly model: Model;
  /**
   * `unavailable`: its plugin is off, or the circuit breaker of its provider or its own is open, and so it is with
   * every fallback.
   */
  readonly status: "available" | "unavailable";
  /** In which it can work from a track on this installation. */
  readonly modes: readonly ReferenceMode[];
  /** What one generation by it can cost. */
  readonly price: PriceBounds;
}

export interface ListModelsDeps {
  readonly catalogue: Catalogue;
  readonly routes: Routes;
  readonly availability: Pick<ProviderAvailability, "isOffered">;
}

/** The catalogue as callers see it. */
export class ListModels {
  constructor(private readonly deps: ListModelsDeps) {}

  /** All models, in the order of config. */
  list(): Promise<ListedModel[]> {
    return Promise.all(this.deps.catalogue.models.map((model) => this.withStatus(model)));
  }

  /** @throws {ModelNotFoundError} */
  async get(modelId: string): Promise<ListedModel> {
    return this.withStatus(this.deps.catalogue.get(modelId));
  }

  private async withStatus(model: Model): Promise<ListedModel> {
    const routes = this.deps.routes.routesOf({ kind: "music", modelId: model.id, request: null }, null);
    const status = (await firstOpenRoute(routes, this.deps.availability)) === null ? "unavailable" : "available";
    const modes = modesOf(model, this.deps.catalogue.takerOf(model));
    return { model, status, modes, price: priceBounds(model, modes) };
  }
}

/** The catalogue as the settings have it: without a storage, so that no circuit breaker counts. */
export function listConfiguredModels(
  providers: readonly CatalogueProvider[],
  preferences: RoutePreferences,
): Promise<ListedModel[]> {
  const catalogue = new Catalogue(providers);
  const availability = { isOffered: () => Promise.resolve(true) };
  return new ListModels({ catalogue, routes: new Routes({ catalogue, preferences }), availability }).list();
}
