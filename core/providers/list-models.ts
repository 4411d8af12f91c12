import type { ReferenceMode } from "../ports/music-provider.js";
import { type PriceBounds, priceBounds } from "./prices.js";
import { modesOf } from "./sources.js";
import { isOffered } from "./circuit-breaker.js";
import type { ProviderAvailability } from "./provider-availability.js";
import { type RoutePreferences, Routes } from "./routes.js";
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
  readonly availability: Pick<ProviderAvailability, "openIds">;
}

/** The catalogue as callers see it. */
export class ListModels {
  /** The models while these breakers are open: nothing else of them changes. */
  private last: { readonly openIds: ReadonlySet<string>; readonly models: readonly ListedModel[] } | null = null;

  constructor(private readonly deps: ListModelsDeps) {}

  /** All models, in the order of config. */
  async list(): Promise<ListedModel[]> {
    return [...(await this.current())];
  }

  /** As {@link list}; the same list for as long as no status changes. */
  async current(): Promise<readonly ListedModel[]> {
    const openIds = await this.deps.availability.openIds();
    if (this.last?.openIds !== openIds) {
      this.last = { openIds, models: this.deps.catalogue.models.map((model) => this.listed(model, openIds)) };
    }
    return this.last.models;
  }

  /** @throws {ModelNotFoundError} */
  async get(modelId: string): Promise<ListedModel> {
    const model = this.deps.catalogue.get(modelId);
    return this.listed(model, await this.deps.availability.openIds());
  }

  private listed(model: Model, openIds: ReadonlySet<string>): ListedModel {
    const routes = this.deps.routes.routesOf({ kind: "music", modelId: model.id, request: null }, null);
    const status = routes.some((route) => isOffered(route, openIds)) ? "available" : "unavailable";
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
  const availability = { openIds: () => Promise.resolve(new Set<string>()) };
  return new ListModels({ catalogue, routes: new Routes({ catalogue, preferences }), availability }).list();
}
