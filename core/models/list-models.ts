import type { ProviderAvailability } from "../jobs/provider-availability.js";
import type { Catalogue, Model } from "./catalogue.js";

export interface ListedModel {
  readonly model: Model;
  /** `unavailable`: the plugin is off, or its circuit breaker is open. */
  readonly status: "available" | "unavailable";
}

/** False while the model's plugin is off, or its circuit breaker is open. */
export async function isAvailable(model: Model, catalogue: Catalogue, availability: ProviderAvailability): Promise<boolean> {
  return catalogue.isEnabled(model.providerId) && (await availability.state(model.providerId)) !== "open";
}

/** The catalogue as callers see it. */
export class ListModels {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly availability: ProviderAvailability,
  ) {}

  /** All models, in the order of config. */
  list(): Promise<ListedModel[]> {
    return Promise.all(this.catalogue.models.map((model) => this.withStatus(model)));
  }

  /** @throws {ModelNotFoundError} */
  async get(modelId: string): Promise<ListedModel> {
    return this.withStatus(this.catalogue.get(modelId));
  }

  private async withStatus(model: Model): Promise<ListedModel> {
    const works = await isAvailable(model, this.catalogue, this.availability);
    return { model, status: works ? "available" : "unavailable" };
  }
}
