import { InvalidModelError, InvalidRequestError, ModelNotFoundError, type RequestIssue } from "../errors.js";
import type { JobRequest } from "../jobs/job.js";
import type { ProviderModel } from "../ports/music-provider.js";

/** A model as the catalogue holds it. */
export interface Model extends ProviderModel {
  readonly providerId: string;
  readonly providerLabel: string;
}

/** A provider named in config, started or not. */
export interface CatalogueProvider {
  readonly id: string;
  readonly label: string;
  readonly enabled: boolean;
  readonly models: readonly ProviderModel[];
}

/** Most code points in lyrics, where a model sets no lower bound. */
export const LYRICS_MAX_LENGTH = 10_000;

/** The models of all providers in config, in the order of config. */
export class Catalogue {
  readonly models: readonly Model[];
  private readonly byId: ReadonlyMap<string, Model>;
  private readonly enabledProviders: ReadonlySet<string>;

  constructor(readonly providers: readonly CatalogueProvider[]) {
    this.models = providers.flatMap((provider) =>
      provider.models.map((model) => ({ ...model, providerId: provider.id, providerLabel: provider.label })),
    );
    this.byId = new Map(this.models.map((model) => [model.id, model]));
    this.enabledProviders = new Set(providers.filter((provider) => provider.enabled).map((provider) => provider.id));
  }

  isEnabled(providerId: string): boolean {
    return this.enabledProviders.has(providerId);
  }

  /** @throws {ModelNotFoundError} for GET of a model */
  get(modelId: string): Model {
    const model = this.byId.get(modelId);
    if (model === undefined) throw new ModelNotFoundError();
    return model;
  }

  /** @throws {InvalidModelError} for a model named in a body */
  requested(modelId: string): Model {
    const model = this.byId.get(modelId);
    if (model === undefined) throw new InvalidModelError();
    return model;
  }
}

/**
 * Checks a request against what its model can do.
 *
 * @throws {InvalidRequestError} `details.issues` names each field and the model's bounds
 * @see decisions, "Values, units, shapes"
 */
export function checkModelBounds(model: Model, request: Pick<JobRequest, "lyrics" | "durationSeconds" | "instrumental">): void {
  const issues: RequestIssue[] = [];
  const issue = (field: string, message: string): void => void issues.push({ path: `body.${field}`, message });
  const { lyrics, durationSeconds } = request;

  if (lyrics !== null && !model.supportsLyrics) issue("lyrics", `are not supported by ${model.id}`);
  if (request.instrumental && !model.supportsInstrumental) issue("instrumental", `must not be true for ${model.id}`);
  const lyricsMax = Math.min(model.lyricsMaxLength ?? LYRICS_MAX_LENGTH, LYRICS_MAX_LENGTH);
  if (lyrics !== null && model.supportsLyrics && [...lyrics].length > lyricsMax) {
    issue("lyrics", `must have at most ${lyricsMax} characters for ${model.id}`);
  }
  if (durationSeconds !== null) {
    if (model.duration === null) issue("duration", `cannot be chosen for ${model.id}`);
    else if (durationSeconds < model.duration.minSeconds || durationSeconds > model.duration.maxSeconds) {
      const { minSeconds, maxSeconds } = model.duration;
      issue("duration", `must be ${minSeconds} to ${maxSeconds} seconds for ${model.id}`);
    }
  }
  if (issues.length > 0) throw new InvalidRequestError(issues);
}
